"""What tests of all papers ask of a verdict, given figures that say one thing, the contrary, both, or nothing."""


def assert_all_agree(findings):
    assert {finding.status for finding in findings} == {"holds"}
    assert all(case.outcome == "agrees" for finding in findings for case in finding.cases)


def assert_all_contradict(findings):
    assert {finding.status for finding in findings} == {"does not hold"}


def assert_seeds_disagree(status, cases):
    assert status == "holds in part"
    assert any(case.outcome == "mixed" for case in cases)


def assert_nothing_decides(verdict):
    assert verdict.status == "cannot be decided"
    assert verdict.findings[0].evidence == "no figures that decide it"
