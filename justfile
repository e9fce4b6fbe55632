# Short names for what the scripts and cargo do; nothing here that they do not.

# List the recipes.
default:
    @just --list

# Bring what the tests need.
setup:
    scripts/setup

# Everything that CI runs.
test:
    scripts/test

# Everything that CI runs, and what takes longer.
long:
    scripts/test --long

# The rules of the whole repository.
tidy:
    cargo xtask tidy

# Put the code into its form.
format:
    cargo fmt --all

# Compiler and clippy, warnings as errors.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# The static program for machines.
build:
    cargo build --release --locked --target x86_64-unknown-linux-musl -p machineadm

# Licences, bans and sources; needs cargo-deny.
deny:
    cargo deny check bans licenses sources
