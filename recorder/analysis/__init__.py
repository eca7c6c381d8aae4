"""Chess engines that analyse recorded games.

``plan`` makes the steps that an engine is sent for a game, and collects its answers within limits; ``engine`` starts an
engine and sends it the plans of one game or many. Each protocol has one driver: ``uci`` by python-chess, ``cecp`` (with
``cecp_session``) by ``recorder.cecp``, because python-chess refuses engines without ``setboard`` and knows neither
losers nor bughouse. Both use ``process``: the engine's process and its bounds.
"""
