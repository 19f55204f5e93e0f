-- Profiles, schema version 3. Described in ucudnn-profile(5).
PRAGMA application_id = 0x75635072;
PRAGMA user_version = 3;

CREATE TABLE environment (
    id INTEGER PRIMARY KEY,
    device TEXT NOT NULL,
    compute_capability INTEGER NOT NULL CHECK (compute_capability >= 0),
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0),
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    cudnn INTEGER NOT NULL CHECK (cudnn >= 0),
    cuda INTEGER NOT NULL CHECK (cuda >= 0),
    driver TEXT NOT NULL,
    UNIQUE (device, compute_capability, multiprocessors, memory_bytes,
            cudnn, cuda, driver)
) STRICT;

CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE kernel (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE outcome (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE reason (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE measurement (
    environment INTEGER NOT NULL REFERENCES environment,
    problem INTEGER NOT NULL REFERENCES problem,
    micro_batch INTEGER NOT NULL CHECK (micro_batch >= 1),
    accumulate INTEGER NOT NULL CHECK (accumulate IN (0, 1)),
    kernel INTEGER NOT NULL REFERENCES kernel,
    outcome INTEGER NOT NULL REFERENCES outcome,
    reason INTEGER REFERENCES reason,
    notes INTEGER NOT NULL CHECK (notes >= 0),
    workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes >= 0),
    time_ns INTEGER NOT NULL CHECK (time_ns >= 0),
    spread_ns INTEGER NOT NULL CHECK (spread_ns >= 0),
    host_ns INTEGER NOT NULL CHECK (host_ns >= 0),
    error REAL CHECK (error >= 0),
    calls INTEGER NOT NULL CHECK (calls >= 0),
    samples BLOB CHECK (length(samples) % 4 = 0),
    measured_at INTEGER NOT NULL,
    build_ns INTEGER NOT NULL DEFAULT 0 CHECK (build_ns >= 0),
    PRIMARY KEY (environment, problem, micro_batch, accumulate, kernel)
) STRICT, WITHOUT ROWID;

CREATE TABLE search (
    environment INTEGER NOT NULL REFERENCES environment,
    problem INTEGER NOT NULL REFERENCES problem,
    micro_batch INTEGER NOT NULL CHECK (micro_batch >= 1),
    accumulate INTEGER NOT NULL CHECK (accumulate IN (0, 1)),
    api TEXT NOT NULL CHECK (api IN ('legacy', 'graph')),
    found INTEGER NOT NULL CHECK (found >= 0),
    pruned INTEGER NOT NULL CHECK (pruned BETWEEN 0 AND found),
    left_out INTEGER NOT NULL CHECK (left_out >= 0),
    searched_at INTEGER NOT NULL,
    tuned INTEGER NOT NULL DEFAULT 0 CHECK (tuned IN (0, 1)),
    tune_left_out INTEGER NOT NULL DEFAULT 0 CHECK (tune_left_out >= 0),
    PRIMARY KEY (environment, problem, micro_batch, accumulate, api)
) STRICT, WITHOUT ROWID;

-- The measurements with every name spelled out, for people.
CREATE VIEW readable AS
SELECT environment.device AS device, environment.cudnn AS cudnn,
    problem.text AS problem, micro_batch, accumulate,
    kernel.text AS kernel, outcome.text AS outcome, reason.text AS reason,
    notes, workspace_bytes, time_ns, spread_ns, host_ns, error, calls,
    datetime(measured_at, 'unixepoch') AS measured_at, build_ns
FROM measurement
JOIN environment ON environment.id = measurement.environment
JOIN problem ON problem.id = measurement.problem
JOIN kernel ON kernel.id = measurement.kernel
JOIN outcome ON outcome.id = measurement.outcome
LEFT JOIN reason ON reason.id = measurement.reason;
