"""The opened values of a zero test must not reveal the number.

Two lines, one through the number and one through a random factor, have a parabola as product. A party with three points of the parabola
finds the roots of both lines, and with its own share of the number the number itself. So the three parties' openings are put together here
and the attack is run on them, in a program of its own, since the library reads the arguments of the program.
"""

import json
import subprocess
import sys

ATTACK = """
import json, secrets
import numpy as np
from mpyc import asyncoro, finfields, thresha
from mpyc.runtime import Runtime, mpc
from setveil.presence.secure.mpyc_numbers import Numbers

PARTIES = range(3)
runtimes = [Runtime(pid, mpc.parties, mpc.options) for pid in PARTIES]
keys = {subset: key for runtime in runtimes for subset, key in runtime._prss_keys.items()}
opened = {}
for runtime in runtimes:
    runtime._prss_keys = {subset: key for subset, key in keys.items() if runtime.pid in subset}
    runtime.prfs = lambda bound, keys=runtime._prss_keys: {s: thresha.PRF(k, bound) for s, k in keys.items()}

    async def record(product, receivers=None, threshold=None, pid=runtime.pid):
        opened[pid] = [int(v) % product.field.modulus for v in product.value]
        return product

    runtime.output = record
numbers = [Numbers(runtime, 20) for runtime in runtimes]
field = numbers[0]._field
p = field.modulus

def read(parabola, share):
    '''What party 3 makes of three points of a parabola and its share of the number.'''
    y1, y2, y3 = parabola
    second = (y3 - 2 * y2 + y1) * pow(2, -1, p) % p
    first = (y2 - y1 - 3 * second) % p
    zeroth = (y1 - first - second) % p
    square = first * first - 4 * second * zeroth
    if not field(square).is_sqr():
        return []
    root = int(field(square).sqrt()) % p
    places = [(-first + sign * root) * pow(2 * second, -1, p) % p for sign in (1, -1)]
    return [-share * pow(3 - place, -1, p) * place % p for place in places]

secret = [1 + secrets.randbelow(500) for _ in range(100)] + [0]  # the test reveals only whether a number is zero
shares = thresha.random_split(field, [field(v) for v in secret], 1, 3)
factor = thresha.random_split(field, [field(secrets.randbelow(p)) for _ in secret], 1, 3)
bare = [[a * b % p for a, b in zip(shares[i], factor[i])] for i in PARTIES]
for i in PARTIES:
    asyncoro.runtime = runtimes[i]
    wrapped = numbers[i]._wrap(np.array(shares[i], object))
    runtimes[i]._loop.run_until_complete(numbers[i]._is_zero(wrapped))

def hits(points):
    return sum(secret[j] in read([points[i][j] for i in PARTIES], shares[2][j]) for j in range(100))

heights = thresha.recombine(field, [(i + 1, opened[i]) for i in PARTIES])
zeros = [int(v) % p == 0 for v in heights] == [v == 0 for v in secret]
replaced = all(r.np_is_zero_public == n._is_zero for r, n in zip(runtimes, numbers))
print(json.dumps({"bare": hits(bare), "ours": hits([opened[i] for i in PARTIES]), "zeros": zeros, "replaced": replaced}))
"""


def test_three_points_of_the_opened_parabola_do_not_tell_the_number():
    command = [sys.executable, "-c", ATTACK, "-M3", "-I0", "-T1", "-K43", "--no-log"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    assert result["bare"] == 100, "the attack reads products without a veil"
    assert result["ours"] == 0
    assert result["zeros"]
    assert result["replaced"], "the library's comparisons use the veiled test too"
