"""What is delivered twice counts once: a job, the last piece of an upload, the call of a webhook."""

import hashlib
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from sqlalchemy import func, select
from tests.faults.clocks import work_by
from tests.offices.machines import all_ended, free_port, judge, serve, wait_until, work
from tests.offices.submitting import PIECE, TUS, begin_upload, plan_load, submit

from basanite.campaign.jobs.queue import QUEUE, client
from basanite.campaign.people.communication import add_webhook
from basanite.campaign.store.tables import Message, Submission

SAID = {"campaign": "small", "task": "CLIR", "label": "run", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("job delivered twice")
def test_a_job_that_is_delivered_twice_is_worked_on_twice_and_counts_once(place, pack, fault, server, template):
    """The second delivery comes as another team's job, so that no order in the queue keeps them apart."""
    office, teams, machines = place(url=server.fresh(template), teams=3)
    ids = [submit(office, member, pack.perfect).id for member in teams.members]
    for one in ids:
        options = {"workflow_name": "process_submission", "queue_name": QUEUE, "workflow_id": f"again:{one}"}
        client(office).enqueue({**options, "queue_partition_key": f"again {one}"}, submission_id=one)
    for name in ("worker 1", "worker 2"):
        machines.start(name, work, office.settings)
    began = time.monotonic()
    assert wait_until(lambda: all_jobs_done(office, 6), 120), machines.logs()
    judgement = judge(office)
    done = "the job of each of 3 submissions was put into the queue twice, for 2 workers"
    fault(done=done, became=judgement.words, seconds=time.monotonic() - began)
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 3}


def all_jobs_done(office, count):
    jobs = client(office).list_workflows(queue_name=QUEUE, status="SUCCESS", load_input=False, load_output=False)
    return len(jobs) == count and all_ended(office)


@pytest.mark.slow
@pytest.mark.fault("upload delivered twice")
@pytest.mark.req("P-8", "X-2")
def test_a_piece_that_is_sent_twice_at_once_makes_one_submission(place, pack, fault):
    office, teams, machines = place(teams=1)
    port, content = free_port(), pack.perfect.read_bytes()
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, [], count=0, pause=0)
    machines.start("server", serve, office.settings, port)
    machines.worker("worker")
    headers = {"Authorization": f"Bearer {plan.tokens[0]}"}
    with httpx2.Client(base_url=plan.address, headers=headers, timeout=30) as sender:
        assert wait_until(lambda: there(sender), 60), machines.logs()
        began = time.monotonic()
        place_of = begin_upload(sender, {**SAID, "sha256": hashlib.sha256(content).hexdigest()}, len(content))
        how = {"headers": {**TUS, **PIECE, "Upload-Offset": "0"}, "content": content}
        with ThreadPoolExecutor(4) as four:
            said = list(four.map(lambda _: sender.patch(place_of, **how), range(4)))
        late = sender.patch(place_of, **how)
    assert Counter(answer.status_code for answer in said)[204] >= 1
    assert {answer.status_code for answer in said} <= {204, 409, 410, 423}
    assert late.status_code == 410
    assert "it is already a submission" in late.text
    named = {answer.headers["basanite-submission"] for answer in said if "basanite-submission" in answer.headers}
    assert len(named) == 1
    assert wait_until(lambda: all_ended(office), 60), machines.logs()
    judgement = judge(office)
    done = "the whole file of one upload was sent 4 times at once, and once more later"
    fault(
        done=done,
        became=f"one submission, the other calls refused; {judgement.words}",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 1


def there(sender):
    try:
        return sender.get("/api/v1/uploads", params={"campaign": "small"}).is_success
    except httpx2.HTTPError:
        return False


class Receiver(ThreadingHTTPServer):
    """Somebody who is called: keeps what is said, and answers the first call only when it is too late."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.calls, self.first = [], threading.Event()


class Answering(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.headers["Basanite-Delivery"], body))
        if len(self.server.calls) == 1:
            self.server.first.wait(30)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        """Nothing is printed."""


@pytest.fixture
def receiver():
    called = Receiver()
    thread = threading.Thread(target=called.serve_forever, daemon=True)
    thread.start()
    yield called
    called.first.set()
    called.shutdown()
    called.server_close()
    thread.join()


@pytest.mark.slow
@pytest.mark.fault("webhook delivered twice")
def test_a_webhook_whose_caller_was_killed_is_called_again_under_the_same_id(place, pack, fault, receiver, tmp_path):
    office, teams, machines = place(teams=1, settings={"loopback_webhooks": True})
    with office.writing() as session:
        eva = organiser(session, teams.campaign_id)
        url = f"http://127.0.0.1:{receiver.server_address[1]}/told"
        add_webhook(session, office, eva, teams.campaign_id, url=url, kinds=("result_there",))
    submit(office, teams.members[0], pack.perfect)
    machines.worker("killed")
    assert wait_until(lambda: receiver.calls, 90, 0.02), machines.logs()
    machines.kill("killed")
    receiver.first.set()
    began = time.monotonic()
    (tmp_path / "hands").write_text("90")  # a minute and a half later: the pause before a second call is over
    machines.start("next", work_by, office.settings, str(tmp_path / "hands"))
    assert wait_until(lambda: sent(office), 60), machines.logs()
    time.sleep(2)
    judgement = judge(office)
    fault(
        done="the worker was killed after it had called, before it could note the answer; the next one came 90 s later",
        became=f"called twice with the same `Basanite-Delivery` and the same body; {judgement.words}",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()
    assert len(receiver.calls) == 2
    assert len(set(receiver.calls)) == 1


def sent(office):
    with office.reading() as session:
        return session.scalar(select(Message.state).where(Message.kind == "webhook")) == "sent"


def organiser(session, campaign_id):
    from basanite.campaign.office import Actor
    from basanite.campaign.store.tables import Grant

    question = select(Grant.person_id).where(Grant.campaign_id == campaign_id, Grant.role == "evaluation")
    return Actor(session.scalars(question.limit(1)).one())
