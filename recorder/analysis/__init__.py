"""Chess engines that analyse recorded games.

``plan`` makes of a game what an engine is told of it, ``engine`` starts an engine and tells it a plan, ``run`` does so
for many games. There is one driver for each protocol: ``uci`` by python-chess, ``cecp`` (with ``cecp_session``) by
``recorder.cecp``, since python-chess refuses engines without ``setboard`` and knows neither losers nor bughouse. What
both share is in ``process`` (the engine's process and its bounds) and ``found`` (limits, and what an engine told of a
position).
"""
