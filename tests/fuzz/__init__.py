"""A fuzzer for everything that reads foreign bytes: no input may raise, hang, or depend on how its bytes are cut.

``python -m tests.fuzz`` runs it; ``make soak`` does with 200 MB. Each case is made from a kind and a number alone, so
``python -m tests.fuzz --kind raw --case 1017`` repeats one.
"""
