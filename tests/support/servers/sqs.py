"""Queues on moto's server, and what AWS does between a queue and a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import botocore.session

#: A received message that nobody deletes comes again after so many seconds.
HIDDEN_S = 5400

Invoke = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def record(message: Mapping[str, Any]) -> dict[str, Any]:
    """A received message as a function's event has it."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": {
            "ApproximateReceiveCount": message["Attributes"]["ApproximateReceiveCount"],
            "SentTimestamp": message["Attributes"]["SentTimestamp"],
            "SenderId": "AIDACKCEVSQ6C2EXAMPLE",
            "ApproximateFirstReceiveTimestamp": message["Attributes"][
                "ApproximateFirstReceiveTimestamp"
            ],
        },
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:docstow-jobs",
        "awsRegion": "eu-central-1",
    }


@dataclass(frozen=True, slots=True)
class Queues:
    """A queue and its dead letters.

    Attributes:
        client: of the server.
        url: of the queue.
        dead: of its dead letters.
    """

    client: Any
    url: str
    dead: str

    @classmethod
    def create(cls, endpoint: str, name: str, *, most: int = 5) -> Queues:
        """Make both, as the template does."""
        client = _connect(endpoint)
        dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
        policy = {
            "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
            "maxReceiveCount": most,
        }
        attributes = {"VisibilityTimeout": f"{HIDDEN_S}", "RedrivePolicy": json.dumps(policy)}
        url = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        return cls(client, url, dead)

    @classmethod
    def open(cls, endpoint: str, url: str, dead: str) -> Queues:
        """Those that another process has made."""
        return cls(_connect(endpoint), url, dead)

    def send(self, body: str) -> None:
        """Put a message into the queue."""
        self.client.send_message(QueueUrl=self.url, MessageBody=body)

    def receive(
        self, most: int = 10, *, wait_s: int = 0, hidden_s: int = HIDDEN_S
    ) -> list[dict[str, Any]]:
        """The messages that are visible now, or within ``wait_s``; they are hidden from now on."""
        answer = self.client.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=most,
            AttributeNames=["All"],
            WaitTimeSeconds=wait_s,
            VisibilityTimeout=hidden_s,
        )
        return list(answer.get("Messages", ()))

    def delete(self, message: Mapping[str, Any]) -> None:
        """Remove a received message, which is done."""
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def poll(self, invoke: Invoke, most: int = 10) -> tuple[int, int]:
        """Hand a function what is visible, and delete what it did; how many of each."""
        messages = self.receive(most)
        if not messages:
            return 0, 0
        answer = invoke({"Records": [record(message) for message in messages]})
        failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
        assert failed <= {message["MessageId"] for message in messages}
        for message in messages:
            if message["MessageId"] not in failed:
                self.delete(message)
        return len(messages) - len(failed), len(failed)

    def show(self, message: Mapping[str, Any]) -> None:
        """Make a received message visible at once, as if its time were up."""
        self.client.change_message_visibility(
            QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
        )

    def bodies(self, url: str) -> list[str]:
        """What lies in a queue, seen without receiving it as a worker would."""
        found = []
        while messages := self.client.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=1
        ).get("Messages"):
            found += [message["Body"] for message in messages]
        return found

    def counts(self, url: str) -> tuple[int, int]:
        """How many messages of a queue are visible, and how many are hidden."""
        return self._count(url, ""), self._count(url, "NotVisible")

    def delayed(self) -> int:
        """How many messages were sent that nobody can receive yet."""
        return self._count(self.url, "Delayed")

    def _count(self, url: str, which: str) -> int:
        name = f"ApproximateNumberOfMessages{which}"
        answer = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
        return int(answer["Attributes"][name])


def _connect(endpoint: str) -> Any:
    return botocore.session.Session().create_client(
        "sqs",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="k",
        aws_secret_access_key="s",
    )
