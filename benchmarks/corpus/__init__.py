"""Public robot files against other engines: every file loads and agrees, or a table names the reason.

``python -m benchmarks.corpus`` examines the files that installed packages ship and writes
``benchmarks/results/corpus.json`` and ``docs/corpus.md``.
"""
