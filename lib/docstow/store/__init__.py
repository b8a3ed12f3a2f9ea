"""The store: objects, blobs, heads, records, snapshots, leases, usage; all conditional writes."""
