"""Jobs: their records, the queue, the worker and SQS events."""
