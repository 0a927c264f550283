"""Grids for tests of comparisons."""

GRID = """
data = { path = "sample:supermarket?records=1200" }
task = "item-knn:items=60"
metrics = ["fi-similarity:min_support=5%"]
attacks = ["find-record:known=2", "membership"]
targets = 100
sample = 400
seeds = 2

[[methods]]
name = "disassociation"
k = [3, 10]
m = 2

[[methods]]
name = "rand-swap"

[[methods]]
name = "exact-swap"
itemsets = [[["milk"]]]
min_support = [4000]
"""
