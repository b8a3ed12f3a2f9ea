"""What operators do: upkeep, sweep, evict, audit, bundles, exports."""
