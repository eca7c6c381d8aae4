-- The schema of an archive as the last development versions made it.
PRAGMA application_id = 1229149010;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO "alembic_version" VALUES('0012');
CREATE TABLE analysed_positions (
	id INTEGER NOT NULL, 
	analysis_id INTEGER NOT NULL, 
	ply INTEGER NOT NULL, 
	fen TEXT NOT NULL, 
	stands BOOLEAN NOT NULL, 
	CONSTRAINT pk_analysed_positions PRIMARY KEY (id), 
	CONSTRAINT uq_analysed_positions_analysis_id_ply_fen UNIQUE (analysis_id, ply, fen), 
	CONSTRAINT fk_analysed_positions_analysis_id FOREIGN KEY(analysis_id) REFERENCES analyses (id) ON DELETE CASCADE
);
CREATE TABLE analyses (
	id INTEGER NOT NULL, 
	game_key TEXT NOT NULL, 
	engine TEXT NOT NULL, 
	protocol TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	begun_ms BIGINT NOT NULL, 
	CONSTRAINT pk_analyses PRIMARY KEY (id), 
	CONSTRAINT ck_analyses_protocol CHECK (protocol IN ('cecp', 'uci'))
);
CREATE TABLE analysis_lines (
	position_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	depth INTEGER, 
	score_cp INTEGER, 
	mate INTEGER, 
	time_ms BIGINT, 
	nodes BIGINT, 
	selective_depth INTEGER, 
	nodes_per_s BIGINT, 
	tablebase_hits BIGINT, 
	pv TEXT NOT NULL, 
	CONSTRAINT pk_analysis_lines PRIMARY KEY (position_id, seq), 
	CONSTRAINT fk_analysis_lines_position_id FOREIGN KEY(position_id) REFERENCES analysed_positions (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE anchors (
	observation_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	line_no INTEGER NOT NULL, 
	ply INTEGER NOT NULL, 
	fen TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	"offset" BIGINT NOT NULL, 
	CONSTRAINT pk_anchors PRIMARY KEY (observation_id, seq), 
	CONSTRAINT fk_anchors_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE anomalies (
	source_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	"offset" BIGINT NOT NULL, 
	server_game_no INTEGER, 
	message TEXT NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_anomalies PRIMARY KEY (source_id, seq), 
	CONSTRAINT fk_anomalies_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE corrections (
	game_key TEXT NOT NULL, 
	field TEXT NOT NULL, 
	value TEXT NOT NULL, 
	decided_ms BIGINT NOT NULL, 
	CONSTRAINT pk_corrections PRIMARY KEY (game_key, field)
)
 WITHOUT ROWID;
CREATE TABLE events (
	observation_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	ply INTEGER NOT NULL, 
	actor TEXT, 
	value INTEGER, 
	text TEXT NOT NULL, 
	white_clock_ms INTEGER, 
	black_clock_ms INTEGER, 
	at_ms BIGINT, 
	"offset" BIGINT NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (observation_id, seq), 
	CONSTRAINT fk_events_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE game_evidence (
	game_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_game_evidence PRIMARY KEY (game_id, seq), 
	CONSTRAINT fk_game_evidence_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE game_links (
	game_id INTEGER NOT NULL, 
	other_game_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	evidence TEXT NOT NULL, 
	CONSTRAINT pk_game_links PRIMARY KEY (game_id, other_game_id, kind), 
	CONSTRAINT fk_game_links_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE, 
	CONSTRAINT fk_game_links_other_game_id FOREIGN KEY(other_game_id) REFERENCES games (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE games (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	server TEXT, 
	dialect TEXT, 
	server_game_no INTEGER, 
	white_id INTEGER NOT NULL, 
	white TEXT NOT NULL, 
	white_rating_text TEXT, 
	white_rating INTEGER, 
	white_titles TEXT, 
	white_registered BOOLEAN, 
	white_sealed BOOLEAN, 
	black_id INTEGER NOT NULL, 
	black TEXT NOT NULL, 
	black_rating_text TEXT, 
	black_rating INTEGER, 
	black_titles TEXT, 
	black_registered BOOLEAN, 
	black_sealed BOOLEAN, 
	rated BOOLEAN, 
	variant TEXT, 
	category TEXT, 
	base_s INTEGER, 
	increment_s INTEGER, 
	black_base_s INTEGER, 
	black_increment_s INTEGER, 
	base_inferred BOOLEAN NOT NULL, 
	variant_inferred BOOLEAN NOT NULL, 
	start_fen TEXT, 
	start_ply INTEGER NOT NULL, 
	result TEXT NOT NULL, 
	reason TEXT, 
	reason_key TEXT, 
	termination TEXT NOT NULL, 
	ending TEXT NOT NULL, 
	started_at_ms BIGINT, 
	ended_at_ms BIGINT, 
	time_basis TEXT NOT NULL, 
	date_text TEXT, 
	complete BOOLEAN NOT NULL, 
	continued BOOLEAN NOT NULL, 
	partner_server_game_no INTEGER, 
	me TEXT, 
	ply_count INTEGER NOT NULL, 
	source_id INTEGER, 
	first_offset BIGINT NOT NULL, 
	last_offset BIGINT NOT NULL, 
	merged_into INTEGER, 
	start_precision TEXT, 
	eco TEXT, 
	opening TEXT, 
	opening_ply INTEGER, 
	corrected TEXT, 
	CONSTRAINT pk_games PRIMARY KEY (id), 
	CONSTRAINT ck_games_result CHECK (result IN ('1-0', '0-1', '1/2-1/2', '*')), 
	CONSTRAINT fk_games_white_id FOREIGN KEY(white_id) REFERENCES players (id), 
	CONSTRAINT fk_games_black_id FOREIGN KEY(black_id) REFERENCES players (id), 
	CONSTRAINT fk_games_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE, 
	CONSTRAINT fk_games_merged_into FOREIGN KEY(merged_into) REFERENCES games (id) ON DELETE SET NULL
);
CREATE TABLE holdings (
	observation_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	ply INTEGER NOT NULL, 
	white TEXT NOT NULL, 
	black TEXT NOT NULL, 
	passed TEXT, 
	at_ms BIGINT, 
	"offset" BIGINT NOT NULL, 
	CONSTRAINT pk_holdings PRIMARY KEY (observation_id, seq), 
	CONSTRAINT fk_holdings_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE observations (
	id INTEGER NOT NULL, 
	source_id INTEGER NOT NULL, 
	game_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	server_game_no INTEGER, 
	white TEXT NOT NULL, 
	black TEXT NOT NULL, 
	relation INTEGER, 
	"offset" BIGINT NOT NULL, 
	end_offset BIGINT NOT NULL, 
	started_at_ms BIGINT, 
	ended_at_ms BIGINT, 
	start_ply INTEGER, 
	start_verbose TEXT, 
	start_pretty TEXT, 
	start_elapsed_ms INTEGER, 
	start_white_clock_ms INTEGER, 
	start_black_clock_ms INTEGER, 
	start_lag_ms INTEGER, 
	start_arrival_ms BIGINT, 
	start_precision INTEGER, 
	start_offset BIGINT, 
	CONSTRAINT pk_observations PRIMARY KEY (id), 
	CONSTRAINT uq_observations_game_id_seq UNIQUE (game_id, seq), 
	CONSTRAINT fk_observations_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE, 
	CONSTRAINT fk_observations_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE
);
CREATE TABLE players (
	id INTEGER NOT NULL, 
	server TEXT NOT NULL, 
	handle TEXT NOT NULL, 
	handle_folded TEXT NOT NULL, 
	CONSTRAINT pk_players PRIMARY KEY (id), 
	CONSTRAINT uq_players_server_handle_folded UNIQUE (server, handle_folded)
);
CREATE TABLE plies (
	id INTEGER NOT NULL, 
	ply INTEGER NOT NULL, 
	move INTEGER, 
	san TEXT NOT NULL, 
	white_clock_ms INTEGER, 
	black_clock_ms INTEGER, 
	elapsed_ms INTEGER, 
	lag_ms INTEGER, 
	at_ms BIGINT, 
	flags INTEGER, 
	irreversible INTEGER, 
	quality INTEGER NOT NULL, 
	from_offset BIGINT NOT NULL, 
	CONSTRAINT pk_plies PRIMARY KEY (id)
);
CREATE TABLE ply_lines (
	observation_id INTEGER NOT NULL, 
	line_no INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	parent_line_no INTEGER, 
	parent_ply INTEGER, 
	first_ply_id INTEGER NOT NULL, 
	ply_count INTEGER NOT NULL, 
	CONSTRAINT pk_ply_lines PRIMARY KEY (observation_id, line_no), 
	CONSTRAINT ck_ply_lines_parent CHECK ((line_no = 0) = (parent_line_no IS NULL)), 
	CONSTRAINT fk_ply_lines_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE segments (
	game_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	from_ply INTEGER NOT NULL, 
	to_ply INTEGER NOT NULL, 
	observation_id INTEGER NOT NULL, 
	CONSTRAINT pk_segments PRIMARY KEY (game_id, seq), 
	CONSTRAINT ck_segments_order CHECK (from_ply <= to_ply), 
	CONSTRAINT fk_segments_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE, 
	CONSTRAINT fk_segments_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE settings (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_settings PRIMARY KEY (name)
);
CREATE TABLE source_chunks (
	source_id INTEGER NOT NULL, 
	"offset" BIGINT NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	zstd BLOB NOT NULL, 
	CONSTRAINT pk_source_chunks PRIMARY KEY (source_id, "offset"), 
	CONSTRAINT ck_source_chunks_size_bytes CHECK (size_bytes BETWEEN 1 AND 1048576), 
	CONSTRAINT fk_source_chunks_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
CREATE TABLE source_counts (
	source_id INTEGER NOT NULL, 
	tag TEXT NOT NULL, 
	disposition TEXT NOT NULL, 
	count INTEGER NOT NULL, 
	CONSTRAINT pk_source_counts PRIMARY KEY (source_id, tag, disposition), 
	CONSTRAINT fk_source_counts_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE source_shapes (
	source_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	shape TEXT NOT NULL, 
	lines INTEGER NOT NULL, 
	first_offset BIGINT NOT NULL, 
	CONSTRAINT pk_source_shapes PRIMARY KEY (source_id, seq), 
	CONSTRAINT fk_source_shapes_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE sources (
	id INTEGER NOT NULL, 
	sha256 TEXT NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	path TEXT, 
	kind TEXT NOT NULL, 
	server TEXT, 
	dialect TEXT, 
	me TEXT, 
	time_basis TEXT NOT NULL, 
	options JSON NOT NULL, 
	timing BLOB, 
	parser_version TEXT NOT NULL, 
	read_up_to BIGINT NOT NULL, 
	kept_bytes BIGINT NOT NULL, 
	line_count BIGINT NOT NULL, 
	warnings JSON NOT NULL, 
	unfinished TEXT, 
	CONSTRAINT pk_sources PRIMARY KEY (id), 
	CONSTRAINT uq_sources_sha256 UNIQUE (sha256), 
	CONSTRAINT ck_sources_sha256 CHECK (length(sha256) = 64), 
	CONSTRAINT ck_sources_kept_bytes CHECK (kept_bytes BETWEEN 0 AND size_bytes)
);
CREATE TABLE thinking (
	observation_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	ply INTEGER NOT NULL, 
	engine TEXT, 
	white BOOLEAN, 
	depth INTEGER, 
	score_cp INTEGER, 
	mate INTEGER, 
	time_ms BIGINT, 
	nodes BIGINT, 
	selective_depth INTEGER, 
	nodes_per_s BIGINT, 
	tablebase_hits BIGINT, 
	pv TEXT NOT NULL, 
	at_ms BIGINT, 
	"offset" BIGINT NOT NULL, 
	CONSTRAINT pk_thinking PRIMARY KEY (observation_id, seq), 
	CONSTRAINT fk_thinking_observation_id FOREIGN KEY(observation_id) REFERENCES observations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE INDEX ix_games_black_id ON games (black_id);
CREATE INDEX ix_games_bughouse ON games (started_at_ms) WHERE variant = 'bughouse';
CREATE INDEX ix_games_merged_into ON games (merged_into);
CREATE INDEX ix_games_source_id_first_offset ON games (source_id, first_offset);
CREATE INDEX ix_games_white_id_black_id ON games (white_id, black_id);
CREATE UNIQUE INDEX uq_games_key ON games ("key") WHERE source_id IS NOT NULL;
CREATE UNIQUE INDEX uq_games_merged_key ON games ("key") WHERE source_id IS NULL;
CREATE INDEX ix_observations_source_id ON observations (source_id);
CREATE INDEX ix_segments_observation_id ON segments (observation_id);
CREATE INDEX ix_game_links_other_game_id ON game_links (other_game_id);
CREATE INDEX ix_analyses_game_key ON analyses (game_key);
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset, g.eco, g.opening,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown') AND g.started_at_ms IS NOT NULL
    THEN date(g.started_at_ms / 1000, 'unixepoch')
    ELSE iif(date(g.date_text) = g.date_text, g.date_text, NULL) END AS day
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL;
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
    WHEN 4 THEN 'datagram' WHEN 5 THEN 'delta' WHEN 6 THEN 'engine' WHEN 7 THEN 'comment' END AS origin,
  CASE p.quality >> 6 WHEN 0 THEN 'ms' WHEN 1 THEN 's' WHEN 3 THEN 'ms, clock derived' WHEN 4 THEN 's, clock derived'
    WHEN 5 THEN 'ms, elapsed derived' WHEN 6 THEN 's, elapsed derived' END AS precision,
  CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN p.quality >> 6 IN (5, 6) THEN 'derived'
    WHEN p.quality >> 3 & 7 IN (3, 7) THEN 'imported' ELSE 'printed' END AS elapsed_origin,
  o.offset + p.from_offset AS "offset"
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL;
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, avg(elapsed_s) AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, avg(lag_ms) AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover;
CREATE VIEW v_analyses AS
SELECT coalesce(m.key, g.key) AS key, a.engine, a.protocol, a.settings, p.ply, p.fen, l.seq, l.depth,
  iif(p.ply % 2, -1, 1) * l.score_cp AS white_cp, iif(p.ply % 2, -1, 1) * l.mate AS white_mate, l.time_ms, l.nodes, l.pv
FROM analyses a
JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL
LEFT JOIN games m ON m.id = g.merged_into
JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands
JOIN analysis_lines l ON l.position_id = p.id;
COMMIT;
