"""The schema of the first release.

Its number follows those of development versions (0001 to 0006), which this program does not upgrade.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = None
branch_labels = None
depends_on = None

V_GAMES = """\
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL"""

V_PLIES = """\
CREATE VIEW v_plies AS
SELECT g.key, p.ply, (p.ply + 1) / 2 AS move_no, iif(p.ply % 2, 'white', 'black') AS side,
  iif(p.ply % 2, g.white, g.black) AS mover, p.san,
  CASE
    WHEN p.move IS NULL THEN NULL
    WHEN p.move >= 32768 THEN substr('?NBRQKP', (p.move >> 12) - 7, 1) || '@'
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
    ELSE substr('abcdefgh', (p.move & 7) + 1, 1) || (((p.move >> 3) & 7) + 1)
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
      || trim(substr(' nbrqk', (p.move >> 12) + 1, 1))
  END AS uci,
  iif(p.ply % 2, p.white_clock_ms, p.black_clock_ms) / 1000.0 AS clock_s,
  p.white_clock_ms / 1000.0 AS white_clock_s, p.black_clock_ms / 1000.0 AS black_clock_s,
  p.elapsed_ms / 1000.0 AS elapsed_s, p.lag_ms, coalesce(o.started_at_ms, 0) + p.at_ms AS arrived_at_ms,
  CASE p.quality & 7 WHEN 0 THEN 'unproved' WHEN 1 THEN 'full' WHEN 2 THEN 'list' WHEN 3 THEN 'inferred'
    WHEN 4 THEN 'conflict' END AS proof,
  CASE p.quality >> 3 & 7 WHEN 0 THEN 'frame' WHEN 1 THEN 'movelist' WHEN 2 THEN 'inferred' WHEN 3 THEN 'pgn'
    WHEN 4 THEN 'datagram' WHEN 5 THEN 'delta' WHEN 6 THEN 'engine' END AS origin,
  CASE p.quality >> 6 WHEN 0 THEN 'ms' WHEN 1 THEN 's' WHEN 3 THEN 'ms, clock derived' WHEN 4 THEN 's, clock derived'
    WHEN 5 THEN 'ms, elapsed derived' WHEN 6 THEN 's, elapsed derived' END AS precision,
  CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN p.quality >> 6 IN (5, 6) THEN 'derived'
    WHEN p.quality >> 3 & 7 = 3 THEN 'imported' ELSE 'printed' END AS elapsed_origin,
  o.offset + p.from_offset AS "offset"
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL"""

V_CLOCKS = """\
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, avg(elapsed_s) AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, avg(lag_ms) AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover"""

V_ANALYSES = """\
CREATE VIEW v_analyses AS
SELECT coalesce(m.key, g.key) AS key, a.engine, a.protocol, a.settings, p.ply, p.fen, l.seq, l.depth,
  iif(p.ply % 2, -1, 1) * l.score_cp AS white_cp, iif(p.ply % 2, -1, 1) * l.mate AS white_mate, l.time_ms, l.nodes, l.pv
FROM analyses a
JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL
LEFT JOIN games m ON m.id = g.merged_into
JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands
JOIN analysis_lines l ON l.position_id = p.id"""


def upgrade() -> None:
    op.execute("PRAGMA application_id = 1229149010")  # ICSR
    op.create_table(
        "analyses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("game_key", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("protocol IN ('cecp', 'uci')", name=op.f("ck_analyses_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analyses")),
    )
    op.create_index(op.f("ix_analyses_game_key"), "analyses", ["game_key"], unique=False)
    op.create_table(
        "players",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("handle_folded", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
        sa.UniqueConstraint("server", "handle_folded", name=op.f("uq_players_server_handle_folded")),
    )
    op.create_table(
        "plies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("move", sa.Integer(), nullable=True),
        sa.Column("san", sa.Text(), nullable=False),
        sa.Column("white_clock_ms", sa.Integer(), nullable=True),
        sa.Column("black_clock_ms", sa.Integer(), nullable=True),
        sa.Column("elapsed_ms", sa.Integer(), nullable=True),
        sa.Column("lag_ms", sa.Integer(), nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=True),
        sa.Column("flags", sa.Integer(), nullable=True),
        sa.Column("irreversible", sa.Integer(), nullable=True),
        sa.Column("quality", sa.Integer(), nullable=False),
        sa.Column("from_offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plies")),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_settings")),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=True),
        sa.Column("dialect", sa.Text(), nullable=True),
        sa.Column("me", sa.Text(), nullable=True),
        sa.Column("time_basis", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("timing", sa.LargeBinary(), nullable=True),
        sa.Column("parser_version", sa.Text(), nullable=False),
        sa.Column("read_up_to", sa.BigInteger(), nullable=False),
        sa.Column("restart_state", sa.JSON(), nullable=False),
        sa.Column("kept_bytes", sa.BigInteger(), nullable=False),
        sa.Column("line_count", sa.BigInteger(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.CheckConstraint("kept_bytes BETWEEN 0 AND size_bytes", name=op.f("ck_sources_kept_bytes")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_sources_sha256")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("sha256", name=op.f("uq_sources_sha256")),
    )
    op.create_table(
        "analysed_positions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("fen", sa.Text(), nullable=False),
        sa.Column("stands", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["analysis_id"], ["analyses.id"], name=op.f("fk_analysed_positions_analysis_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analysed_positions")),
        sa.UniqueConstraint("analysis_id", "ply", "fen", name=op.f("uq_analysed_positions_analysis_id_ply_fen")),
    )
    op.create_table(
        "anomalies",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("server_game_no", sa.Integer(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_anomalies_source_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("source_id", "seq", name=op.f("pk_anomalies")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "games",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=True),
        sa.Column("dialect", sa.Text(), nullable=True),
        sa.Column("server_game_no", sa.Integer(), nullable=True),
        sa.Column("white_id", sa.Integer(), nullable=False),
        sa.Column("white", sa.Text(), nullable=False),
        sa.Column("white_rating_text", sa.Text(), nullable=True),
        sa.Column("white_rating", sa.Integer(), nullable=True),
        sa.Column("white_titles", sa.Text(), nullable=True),
        sa.Column("white_registered", sa.Boolean(), nullable=True),
        sa.Column("white_sealed", sa.Boolean(), nullable=True),
        sa.Column("black_id", sa.Integer(), nullable=False),
        sa.Column("black", sa.Text(), nullable=False),
        sa.Column("black_rating_text", sa.Text(), nullable=True),
        sa.Column("black_rating", sa.Integer(), nullable=True),
        sa.Column("black_titles", sa.Text(), nullable=True),
        sa.Column("black_registered", sa.Boolean(), nullable=True),
        sa.Column("black_sealed", sa.Boolean(), nullable=True),
        sa.Column("rated", sa.Boolean(), nullable=True),
        sa.Column("variant", sa.Text(), nullable=True),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("base_s", sa.Integer(), nullable=True),
        sa.Column("increment_s", sa.Integer(), nullable=True),
        sa.Column("black_base_s", sa.Integer(), nullable=True),
        sa.Column("black_increment_s", sa.Integer(), nullable=True),
        sa.Column("base_inferred", sa.Boolean(), nullable=False),
        sa.Column("variant_inferred", sa.Boolean(), nullable=False),
        sa.Column("start_fen", sa.Text(), nullable=True),
        sa.Column("start_ply", sa.Integer(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("reason_key", sa.Text(), nullable=True),
        sa.Column("termination", sa.Text(), nullable=False),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.Column("started_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("time_basis", sa.Text(), nullable=False),
        sa.Column("date_text", sa.Text(), nullable=True),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("continued", sa.Boolean(), nullable=False),
        sa.Column("partner_server_game_no", sa.Integer(), nullable=True),
        sa.Column("me", sa.Text(), nullable=True),
        sa.Column("ply_count", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=True),
        sa.Column("first_offset", sa.BigInteger(), nullable=False),
        sa.Column("last_offset", sa.BigInteger(), nullable=False),
        sa.Column("merged_into", sa.Integer(), nullable=True),
        sa.Column("start_precision", sa.Text(), nullable=True),
        sa.CheckConstraint("result IN ('1-0', '0-1', '1/2-1/2', '*')", name=op.f("ck_games_result")),
        sa.ForeignKeyConstraint(["black_id"], ["players.id"], name=op.f("fk_games_black_id")),
        sa.ForeignKeyConstraint(["merged_into"], ["games.id"], name=op.f("fk_games_merged_into"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_games_source_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["white_id"], ["players.id"], name=op.f("fk_games_white_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
    )
    op.create_index("ix_games_black_id", "games", ["black_id"], unique=False)
    op.create_index(
        "ix_games_bughouse", "games", ["started_at_ms"], unique=False, sqlite_where=sa.text("variant = 'bughouse'")
    )
    op.create_index(op.f("ix_games_merged_into"), "games", ["merged_into"], unique=False)
    op.create_index("ix_games_source_id_first_offset", "games", ["source_id", "first_offset"], unique=False)
    op.create_index("ix_games_white_id_black_id", "games", ["white_id", "black_id"], unique=False)
    op.create_index("uq_games_key", "games", ["key"], unique=True, sqlite_where=sa.text("source_id IS NOT NULL"))
    op.create_index("uq_games_merged_key", "games", ["key"], unique=True, sqlite_where=sa.text("source_id IS NULL"))
    op.create_table(
        "source_chunks",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("zstd", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("size_bytes BETWEEN 1 AND 1048576", name=op.f("ck_source_chunks_size_bytes")),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_source_chunks_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", "offset", name=op.f("pk_source_chunks")),
    )
    op.create_table(
        "source_counts",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("disposition", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_source_counts_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", "tag", "disposition", name=op.f("pk_source_counts")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "source_shapes",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("shape", sa.Text(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("first_offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_source_shapes_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", "seq", name=op.f("pk_source_shapes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "analysis_lines",
        sa.Column("position_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("score_cp", sa.Integer(), nullable=True),
        sa.Column("mate", sa.Integer(), nullable=True),
        sa.Column("time_ms", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.BigInteger(), nullable=True),
        sa.Column("selective_depth", sa.Integer(), nullable=True),
        sa.Column("nodes_per_s", sa.BigInteger(), nullable=True),
        sa.Column("tablebase_hits", sa.BigInteger(), nullable=True),
        sa.Column("pv", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["position_id"], ["analysed_positions.id"], name=op.f("fk_analysis_lines_position_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("position_id", "seq", name=op.f("pk_analysis_lines")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "game_evidence",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_evidence_game_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "seq", name=op.f("pk_game_evidence")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "game_links",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("other_game_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_links_game_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["other_game_id"], ["games.id"], name=op.f("fk_game_links_other_game_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("game_id", "other_game_id", "kind", name=op.f("pk_game_links")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_game_links_other_game_id"), "game_links", ["other_game_id"], unique=False)
    op.create_table(
        "observations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server_game_no", sa.Integer(), nullable=True),
        sa.Column("white", sa.Text(), nullable=False),
        sa.Column("black", sa.Text(), nullable=False),
        sa.Column("relation", sa.Integer(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("started_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("start_ply", sa.Integer(), nullable=True),
        sa.Column("start_verbose", sa.Text(), nullable=True),
        sa.Column("start_pretty", sa.Text(), nullable=True),
        sa.Column("start_elapsed_ms", sa.Integer(), nullable=True),
        sa.Column("start_white_clock_ms", sa.Integer(), nullable=True),
        sa.Column("start_black_clock_ms", sa.Integer(), nullable=True),
        sa.Column("start_lag_ms", sa.Integer(), nullable=True),
        sa.Column("start_arrival_ms", sa.BigInteger(), nullable=True),
        sa.Column("start_precision", sa.Integer(), nullable=True),
        sa.Column("start_offset", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_observations_game_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_observations_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_observations")),
        sa.UniqueConstraint("game_id", "seq", name=op.f("uq_observations_game_id_seq")),
    )
    op.create_index("ix_observations_source_id", "observations", ["source_id"], unique=False)
    op.create_table(
        "anchors",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("line_no", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("fen", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_anchors_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "seq", name=op.f("pk_anchors")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.Column("value", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("white_clock_ms", sa.Integer(), nullable=True),
        sa.Column("black_clock_ms", sa.Integer(), nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_events_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "seq", name=op.f("pk_events")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "holdings",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("white", sa.Text(), nullable=False),
        sa.Column("black", sa.Text(), nullable=False),
        sa.Column("passed", sa.Text(), nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_holdings_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "seq", name=op.f("pk_holdings")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ply_lines",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("line_no", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("parent_line_no", sa.Integer(), nullable=True),
        sa.Column("parent_ply", sa.Integer(), nullable=True),
        sa.Column("first_ply_id", sa.Integer(), nullable=False),
        sa.Column("ply_count", sa.Integer(), nullable=False),
        sa.CheckConstraint("(line_no = 0) = (parent_line_no IS NULL)", name=op.f("ck_ply_lines_parent")),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_ply_lines_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "line_no", name=op.f("pk_ply_lines")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "segments",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("from_ply", sa.Integer(), nullable=False),
        sa.Column("to_ply", sa.Integer(), nullable=False),
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.CheckConstraint("from_ply <= to_ply", name=op.f("ck_segments_order")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_segments_game_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_segments_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("game_id", "seq", name=op.f("pk_segments")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_segments_observation_id"), "segments", ["observation_id"], unique=False)
    op.create_table(
        "thinking",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=True),
        sa.Column("white", sa.Boolean(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("score_cp", sa.Integer(), nullable=True),
        sa.Column("mate", sa.Integer(), nullable=True),
        sa.Column("time_ms", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.BigInteger(), nullable=True),
        sa.Column("selective_depth", sa.Integer(), nullable=True),
        sa.Column("nodes_per_s", sa.BigInteger(), nullable=True),
        sa.Column("tablebase_hits", sa.BigInteger(), nullable=True),
        sa.Column("pv", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_thinking_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "seq", name=op.f("pk_thinking")),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO settings (name, value) VALUES ('pseudonym-secret', hex(randomblob(16)))")
    for view in (V_GAMES, V_PLIES, V_CLOCKS, V_ANALYSES):
        op.execute(view)
