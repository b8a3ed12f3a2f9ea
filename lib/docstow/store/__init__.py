"""The store: objects, blobs, heads, snapshots, leases, usage; all conditional writes."""
