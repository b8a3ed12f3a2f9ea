"""What the readers of every language share: findings, manifests, sandbox, surfaces."""
