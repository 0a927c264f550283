"""What the page of each paper says around its figures. Texts are ours, so that they may hold markup; what is filled in is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup


@dataclass(frozen=True)
class FigureWords:
    """A figure of the paper: its name, what it is about, which charts stand there, and a note below them."""

    name: str
    title: str
    charts: str
    note: str = ""


@dataclass(frozen=True)
class Words:
    """All that a page says which another paper's does not."""

    command: str
    title: str
    heading: str
    source: str
    draws: tuple[str, str]
    """What a seed draws, and what several draw."""
    readings: tuple[str, str]
    """The readings of the paper's method, the one that verdicts are on first."""
    second: str
    """What the second reading is, in a heading and after a comma."""
    data: tuple[Markup, ...]
    data_topic: str
    """Claims that stand beside the data."""
    figures: tuple[FigureWords, ...]
    beside: FigureWords
    beside_topics: tuple[str, ...]
    elsewhere: str
    """What the data sets are that the paper does not have, in a heading; empty where there are none."""
    full: str
    full_about: str
    counted: tuple[tuple[str, str], ...] = (("records", "records"), ("items", "items"), ("distinct", "distinct items"))
    """Which counts of a data set are told, and what they count."""

    def filled(self, text: str | Markup, about: dict[str, Any]) -> Markup:
        """Fill in what a run was made with."""
        seeds = about["seeds"]
        draws = f"{len(seeds)} {self.draws[len(seeds) != 1]}"
        more = {"seed_list": ", ".join(map(str, seeds)), "number_of_seeds": len(seeds), "draws": draws}
        return Markup(text).format(**about, **more)  # noqa: S704 - the texts are those below, and what is filled in is escaped


TENDENCY = Words(
    command="tendency-swapping",
    title="tendency swapping, reproduced",
    heading="Hiding personal tendency by swapping: the paper's figures, run again",
    source="D. Gunawan and M. Mambo, Data Anonymization for Hiding Personal Tendency in Set-Valued Database Publication, Future Internet"
    " 11 (6), 2019: section 5, Figures 3 to 6.",
    draws=("way to deal out categories", "ways to deal out categories"),
    readings=("paper", "ours"),
    second="with our PartSwap",
    data=(
        Markup(
            "The third data set of the paper, WD, is private. Ours is <b>generated</b>: it has WD's counts, popularity by Zipf's law and"
            " skewed lengths, and nothing of its content. What it shows is no evidence about WD."
        ),
        Markup(
            "Items are dealt out to {categories} random categories of nearly equal size, {number_of_seeds} times (seeds {seed_list});"
            " figures are means, bands and brackets are ranges. The paper gives no detail of RandSwap, PartSupp and SplitPerson: they are"
            " our reading. PartSwap runs twice, as the paper's text says and in our way, which loses no item and treats who is left over."
            " <i>RandSwap matched</i> moves as many random items as PartSwap moves; <i>whole records permuted</i> gives each person the"
            " record of somebody else."
        ),
    ),
    data_topic="",
    figures=(
        FigureWords(
            "Figure 3",
            "Number of frequent itemsets",
            "itemsets",
            "Drawn as shares of the original's number, since numbers at the lowest and the highest support differ by far; the numbers"
            " themselves are in the tables. Whole records permuted have exactly the itemsets of the original, and are not drawn.",
        ),
        FigureWords("Figure 4", "Similarity of frequent itemsets", "similarity"),
        FigureWords("Figure 5", "Dissimilarity", "dissimilarity"),
        FigureWords(
            "Figure 6",
            "Time",
            "seconds",
            "The shortest of a few runs after a first one that does not count; compiled loops on {machine}, {threads} threads. The paper's"
            " programs are in Java: which method is slower there says more of the programs than of the methods.",
        ),
    ),
    beside=FigureWords(
        "Whether it hides, and what the paper does not measure",
        "What the paper does not measure",
        "beside",
        "SplitPerson cuts records into rows, so that no row stands for a record: nothing can be said of what is on top.",
    ),
    beside_topics=("hiding", "beside"),
    elsewhere="in full",
    full="In full, which the paper could not do",
    full_about="The same on whole data sets.",
)

ITEMSETS = Words(
    command="itemset-swapping",
    title="itemset swapping, reproduced",
    heading="Hiding itemsets by swapping: the paper's tables and figures, run again",
    source="D. Gunawan, Y. S. Nugroho and Maryam, Swapping-based Data Sanitization Method for Hiding Sensitive Frequent Itemset in"
    " Transaction Database, IJACSA, 2021: section IV, Tables II to V, Figures 4 to 8.",
    draws=("draw of named itemsets", "draws of named itemsets"),
    readings=("one", "all"),
    second="with SW, all itemsets",
    data=(
        Markup(
            "On FoodMart 42 itemsets of 4 items are drawn from those that are frequent at 0.03 % and named sensitive: the printed hiding"
            " failures are whole numbers of 42, and what Table III says (<i>FI * 0.5</i>) fits no threshold. Each method makes one"
            " release, which is mined at all four thresholds: 2, 3, 3 and 5 records. {draws} (seeds {seed_list}); figures are means, bands"
            " and brackets are ranges. The <i>average tuple length</i> that Table II prints, 11.75, is items by distinct items."
        ),
        Markup(
            "Lines <b>as printed</b> are the paper's numbers, all others are ours. SW runs twice: <i>one item</i> is the paper to the"
            " letter, where each record of a pair gives one; <i>all itemsets</i> lets it give enough to break every named itemset that it"
            " holds, of which the paper says nothing. HEU and NV are our reading of the few sentences that the paper has on them."
            " <i>exact-swap</i> is our method, by default with random targets; <i>border</i> brings each named itemset just below the"
            " threshold as HEU does, <i>levels</i> also looks at the higher thresholds, <i>to 0</i> leaves it in no record, and <i>ILP</i>"
            " plans that with the least loss."
        ),
    ),
    data_topic="Table II",
    figures=(
        FigureWords("Figure 4", "Hiding failure", "failure"),
        FigureWords(
            "Figure 5 and Table IV",
            "Misses cost",
            "misses",
            "Avoidable are those misses that hold no named itemset; the others have to go with it. The paper does not tell them apart.",
        ),
        FigureWords("Figures 6 and 7", "Dissimilarity", "dissimilarity"),
        FigureWords("Figure 8 and Table V", "Artificial itemsets", "artificial"),
    ),
    beside=FigureWords(
        "What the paper does not measure",
        "What the paper does not measure",
        "beside",
        "Seconds are those of the shortest of a few runs after a first one that does not count; compiled loops on {machine}, {threads}"
        " threads.",
    ),
    beside_topics=("beside",),
    elsewhere="on other data",
    full="On other data, which the paper does not have",
    full_about="The same on larger data sets, each mined at the one threshold at which itemsets are hidden; those that are named are of 2"
    " to 4 items, drawn from the frequent ones.",
)

UNCERTAINTY = Words(
    command="rho-uncertainty",
    title="ρ-uncertainty, reproduced",
    heading="Keeping items from being inferred by partial suppression: the paper's tables and figures, run again",
    source="X. Jia, C. Pan, X. Xu, K. Q. Zhu and E. Lo, ρ-uncertainty Anonymization by Partial Suppression, DASFAA 2014, in its extended"
    " version: section 4, Tables 2 and 3, Figures 2 to 9.",
    draws=("draw of sensitive items", "draws of sensitive items"),
    readings=("split", "whole"),
    second="unsplit",
    data=(
        Markup(
            "WV and Retail are complete. Of POS only the first 100,000 records are at hand, and Syn is <b>generated</b> by us with uniform"
            " items and geometric lengths: what they show stands in a column of its own. 40 % of the item types are sensitive, {draws}: the"
            " seeds are those of 0 to 299 whose share of sensitive items is nearest to that of Table 2. Figures are means, bands and"
            " brackets are ranges. What takes long each time is run with the first draw only: TDControl on all but WV, and Global on Syn."
        ),
        Markup(
            "Lines <b>as printed</b> are the paper's numbers, all others ours. <i>Mine</i> and <i>Dist</i> are the paper's two variants,"
            " split into parts as t_max says; <i>unsplit</i> they stand beside. <i>Global</i> and <i>TDControl</i> are our reading of"
            " cao2010, since neither paper nor program was at hand; <i>Global, sensitive only</i> is ours and leaves out nothing else."
            " <i>Insert</i> is our method. <i>All sensitive deleted</i> is always safe, and what every method has to beat. The <i>estimated"
            " bound</i> is a loss that no way of leaving out items can go below; the true least loss is higher, and not known. Nobody is"
            " thought to guess without knowing an item (include_empty is off), as the paper seems to have it."
        ),
    ),
    data_topic="Table 2",
    figures=(
        FigureWords("Figure 2", "Variation of ρ", "rho"),
        FigureWords(
            "Figure 3",
            "Information loss",
            "loss",
            "TDControl's loss is that of the sensitive types that it leaves out, plus for every item that is shown as a node of m of I"
            " items (m - 1) / (I - 1).",
        ),
        FigureWords("Figure 4", "Symmetric divergence", "divergence", "Nodes of TDControl count as new items."),
        FigureWords(
            "Figure 5",
            "Association rules",
            "rules",
            "Rules A → b with a support of 0.05 % and a confidence of ρ, on records cut to their first 5 items in label order. Rules with a"
            " sensitive item on the right and a confidence above ρ must go. TDControl's rules are compared as they are, not specialized to"
            " items.",
        ),
        FigureWords(
            "Table 3",
            "Time",
            "table",
            "Compiled loops on {machine}, {threads} threads; the paper's programs ran on 16 cores of 2.4 GHz. POS is a fifth of its POS.",
        ),
        FigureWords(
            "Figure 6", "Time by the size of the data", "scale", "At t_max = 300, for which the text names its parts."
        ),
        FigureWords("Figure 7", "Variation of t_max", "t-max", "At t_max = 8000 Retail is not split."),
        FigureWords(
            "Figure 8",
            "Variation of b_max",
            "buffer",
            "There is nothing to draw: b_max is the size of a buffer of known sets, and our search keeps none.",
        ),
        FigureWords(
            "Figure 9",
            "Comparison with a permutation",
            "permutation",
            "The permutation changes no item frequency, so that the divergence of Figure 4 would be 0 for it. Drawn is the reconstruction"
            " error of ghinita2008 for sensitive items beside the four most frequent others, half a record added to every cell.",
        ),
    ),
    beside=FigureWords(
        "What the paper does not measure",
        "What the paper does not measure",
        "beside",
        "Every release at ρ = 0.7 was searched for sensitive items that can be inferred, by a program that trusts no method.",
    ),
    beside_topics=("beside",),
    elsewhere="on parts and stand-ins",
    full="On a part of POS and a stand-in for Syn",
    full_about="The same on the first 100,000 records of POS, and on data that were generated like Syn.",
)

DISASSOCIATION = Words(
    command="disassociation",
    title="disassociation, reproduced",
    heading="Taking records apart and putting them together again: the paper's tables and figures, run again",
    source="N. Awad, J.-F. Couchot, B. Al Bouna and L. Philippe, Publishing Anonymized Set-Valued Data via Disassociation towards"
    " Analysis, Future Internet 12 (4), 2020: sections 2.6 and 5, Tables 3 to 6, Figures 5 and 6.",
    draws=("seed", "seeds"),
    readings=("plain", "safe"),
    second="safe",
    data=(
        Markup(
            "Lines <b>as printed</b> are the paper's numbers, all others ours. <i>Wheel</i> takes records apart by horizontal partitioning"
            " (HP) and puts them together at random; <i>original</i> is T. Everything runs twice: as the paper has it, where clusters may"
            " be below k records, and <i>safe</i>, where none is. {draws} (seeds {seed_list}) draw the re-association and the utility"
            " rules; figures are means, bands and brackets are ranges."
        ),
        Markup(
            "Table 3 tells neither k, m and δ nor its 70 rules nor how the support of a couple that stands in two chunks is read. Here"
            " k = m = 3 and δ = 20, on the records that hold a rule, taken apart alone. <i>Random rules</i> are the most frequent pair, 68"
            " of the 20,000 most frequent and one of two records; <i>spread rules</i> have counts in equal steps of powers between these"
            " two; <i>frequent rules</i> are the 69 most frequent and one of two records. Supports are read <i>inside</i> one chunk, or as"
            " <i>expected</i> where chunks are put together at random."
        ),
    ),
    data_topic="The data",
    figures=(
        FigureWords(
            "Table 3",
            "Errors of associations",
            "associations",
            "What is printed stands beside both readings with random rules, since the paper names neither. <i>UGAC</i> are its ants, which"
            " take records from each other until they are stopped, and clusters cut as records come; <i>safe</i> cuts them evenly by the"
            " rules that records hold; <i>stable</i> ants take nothing that another needs. k-means is in the text of the paper only.",
        ),
        FigureWords(
            "Table 4 and Figure 5",
            "Tree edit distance",
            "ted",
            "Exact, between the original and every re-associated set. It must not be published with a release: it tells of the original.",
        ),
        FigureWords(
            "Table 5",
            "Frequent pairs",
            "pairs",
            "Means over all settings; what is in fewer than 0.1 % of the records counts as 0.",
        ),
        FigureWords(
            "Table 6",
            "Frequent triples",
            "triples",
            "The last rank in T' is printed as 1, which the counts do not allow.",
        ),
        FigureWords(
            "Figure 6",
            "Association rules",
            "rules",
            "The 50 rules of the largest support with a confidence of 80 %, which the paper's program takes where nothing is said.",
        ),
    ),
    beside=FigureWords(
        "What the paper does not measure",
        "What the paper does not measure",
        "beside",
        "What breaks k^m-anonymity are clusters below k records, sets that are rare in a chunk, and clusters with too few subrecords."
        " A re-associated set is one way to put a release together, and no k^m-anonymous set of records.",
    ),
    beside_topics=("beside",),
    elsewhere="",
    full="",
    full_about="",
)

PRESENCE = Words(
    command="site-presence",
    title="site presence, reproduced",
    heading="Joining the tables of two providers with dummy users: the paper's figures, run again",
    source="T. Takenouchi, T. Kawamura and A. Ohsuga, Hiding of User Presence for Privacy Preserving Data Mining, IIAI-AAI 2012:"
    " section V, Figures 2 to 4.",
    draws=("pair of keys", "pairs of keys"),
    readings=("qi+sa", "qi"),
    second="by quasi-identifiers",
    data=(
        Markup(
            "The paper prints no numbers beside its figures: only what its text says of them, such as <i>almost 10-25%</i>, can be"
            " compared. Limits hold for B's sensitive attribute too, as Definition 1 has it; <i>qi</i> leaves it out, which is weaker."
            " {draws} ({seed_list}) draw the dummies; figures are means, bands and brackets are ranges. <i>Score as printed</i>"
            " divides entropies by the largest of the candidates; <i>our score</i> divides them by their bound, which needs no secure"
            " division. All runs are in the clear: bits and winners are those of the two-party computation."
        ),
        Markup(
            "The paper says that a query covers θ of the domain, and in other words θ of the records. On Adult these differ: nine in ten"
            " people are in one cell of capital-gain. So there are two kinds of {queries:,} queries on three random attributes. With"
            " <b>domain</b>, ranges cover θ of the cells, and records of a group are spread over its cells. With <b>even</b>, ranges"
            " aim at θ of the records, and each cell is as wide as it has records, as if attributes were coded by rank. For θ ="
            " {thetas} the first hold {held_domain} of the records on average, the second {held_even}: a cell is never cut."
            " The second kind is our reading, added because errors of the first are far beyond what the paper says. <b>One group</b>"
            " is a table that shows nothing but the sensitive values; on the even scale it knows how each single attribute is distributed."
        ),
    ),
    data_topic="",
    figures=(
        FigureWords(
            "Figure 2",
            "The protocol and extended Mondrian",
            "mondrian",
            "k = 2, limits 0.1 to 0.9 of both, α = 0.5. In extended Mondrian users who are absent from the owner of a cut have a fixed"
            " row; if they are dropped, nothing can be divided, which is one group. <i>Retrying</i> tries the next attribute after a"
            " failed check and tells the owner of the cut more about the other provider.",
        ),
        FigureWords(
            "Figure 3",
            "The protocol and MPALM",
            "mpalm",
            "All users of B are users of A, and B has no limits. MPALM sees the complete table; with <i>fixed rows</i> absent users have a"
            " row that is drawn once.",
        ),
        FigureWords(
            "Figure 4",
            "Limits of presence",
            "limits",
            "θ = 10 %, the protocol with the score as printed, pairs of keys: {keys_of_figure_4}; the other provider has 0.1 to 0.9. Grey"
            " are limits that all"
            " users as one group break: nothing can be published with them. Steps of colour are those of the paper; with domain queries"
            " errors are beyond them, and drawn is their share of the error of one group.",
        ),
    ),
    beside=FigureWords(
        "What the paper does not measure",
        "What the paper does not measure",
        "beside",
        "At θ = 10 %. Changed is one setting at a time of the protocol with our score; as usual are α = 0.5, 8 candidates, score = both"
        " and no margin.",
    ),
    beside_topics=("beside",),
    elsewhere="",
    full="",
    full_about="",
    counted=(
        ("records", "people"),
        ("users_a", "at A"),
        ("users_b", "at B"),
        ("common", "at both"),
        ("neither", "at neither"),
    ),
)

WORDS = {
    "gunawan2019": TENDENCY,
    "gunawan2021": ITEMSETS,
    "jia2014": UNCERTAINTY,
    "awad2020": DISASSOCIATION,
    "takenouchi2012": PRESENCE,
}
"""By the paper's key."""
