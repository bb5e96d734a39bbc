# Lists the recipes.
default:
    @just --list

# Exactly what CI runs.
ci:
    .ci/run

# All tests, examples and doctests.
test *args:
    cargo test --workspace {{args}}

# Formats everything.
fmt:
    cargo fmt --all

# Lints, with warnings as errors.
clippy:
    scripts/check clippy

# API documentation, with warnings as errors.
doc:
    scripts/check doc

# Shows changed snapshots one by one (needs cargo-insta). Read each before you accept it.
review:
    cargo insta review

# Writes the generated files anew: schemas and the command reference.
generate:
    UPDATE_GENERATED=1 cargo test -p casebook-api -p casebook --test it up_to_date

# Licences, bans and sources of all dependencies (needs cargo-deny).
deny:
    cargo deny check licenses bans sources

# Runs the fuzz targets for so many seconds.
fuzz seconds="60":
    FUZZ_SECONDS={{seconds}} scripts/check fuzz

# Benchmarks. Compare ratios within one run; a time alone is no evidence.
bench *args:
    cargo bench --workspace {{args}}

# Kills builds at random moments and asks in between.
kill times="50":
    scripts/kill-loop {{times}}

# Two processes index and twenty ask, for so many seconds.
soak seconds="600":
    scripts/soak {{seconds}}

# How soon a save is a head in a memory of so many files, and what watching costs while nothing happens.
watch-latency files="10000" idle="60":
    scripts/watch-latency {{files}} {{idle}}
