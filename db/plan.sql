-- Plans, schema version 2. Described in ucudnn-profile(5).
PRAGMA application_id = 0x7563506c;
PRAGMA user_version = 2;

CREATE TABLE plan (
    id INTEGER PRIMARY KEY,
    network TEXT NOT NULL,
    device TEXT NOT NULL,
    compute_capability INTEGER NOT NULL CHECK (compute_capability >= 0),
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0),
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    cudnn INTEGER NOT NULL CHECK (cudnn >= 0),
    cuda INTEGER NOT NULL CHECK (cuda >= 0),
    driver TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('wr', 'wd')),
    limit_bytes INTEGER NOT NULL CHECK (limit_bytes >= 0),
    policy TEXT NOT NULL,
    deterministic INTEGER NOT NULL CHECK (deterministic IN (0, 1)),
    created_at INTEGER NOT NULL,
    tool TEXT NOT NULL,
    predicted_ns INTEGER NOT NULL CHECK (predicted_ns >= 1),
    undivided_ns INTEGER CHECK (undivided_ns >= 1),
    unlimited_ns INTEGER CHECK (unlimited_ns >= 1),
    workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes >= 0),
    apis INTEGER NOT NULL DEFAULT 0 CHECK (apis IN (0, 1, 2)),
    allow INTEGER NOT NULL DEFAULT 0 CHECK (allow IN (0, 4, 8, 12)),
    no_runtime_compiled INTEGER NOT NULL DEFAULT 0
        CHECK (no_runtime_compiled IN (0, 1)),
    min_gain REAL NOT NULL DEFAULT 0.01 CHECK (min_gain BETWEEN 0 AND 1),
    max_pieces INTEGER NOT NULL DEFAULT 0 CHECK (max_pieces >= 0)
) STRICT;

CREATE TABLE operation (
    plan INTEGER NOT NULL REFERENCES plan,
    position INTEGER NOT NULL CHECK (position >= 0),
    layer TEXT NOT NULL,
    repeat INTEGER NOT NULL CHECK (repeat >= 1),
    batch INTEGER NOT NULL CHECK (batch >= 1),
    problem TEXT NOT NULL,
    workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes >= 0),
    time_ns INTEGER NOT NULL CHECK (time_ns >= 1),
    undivided_ns INTEGER CHECK (undivided_ns >= 1),
    unlimited_ns INTEGER CHECK (unlimited_ns >= 1),
    PRIMARY KEY (plan, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE micro_batch (
    plan INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    size INTEGER NOT NULL CHECK (size >= 1),
    count INTEGER NOT NULL CHECK (count >= 1),
    accumulate INTEGER NOT NULL CHECK (accumulate IN (0, 1)),
    kernel TEXT NOT NULL,
    workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes >= 0),
    time_ns INTEGER NOT NULL CHECK (time_ns >= 1),
    notes INTEGER NOT NULL DEFAULT 0 CHECK (notes >= 0),
    build_ns INTEGER NOT NULL DEFAULT 0 CHECK (build_ns >= 0),
    PRIMARY KEY (plan, operation, position),
    FOREIGN KEY (plan, operation) REFERENCES operation (plan, position)
) STRICT, WITHOUT ROWID;
