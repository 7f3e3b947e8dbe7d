"""Every page in the states that must look right: no data, one row, 10,000 rows, long names, errors, right to left."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from basanite.campaign.actions.packs import PackListing
from basanite.campaign.intake.open_uploads import LeftUpload, OpenUpload
from basanite.campaign.model.plan import Quota, Track, UsageRules, Window
from basanite.campaign.model.refusals import refused
from basanite.campaign.model.zones import Instant
from basanite.campaign.results.own_runs import OwnComparison, Pair
from basanite.campaign.results.views import BoardRow, Provenance, SeenBoard, SeenResult, SeenSubmission
from basanite.campaign.settings import Provider
from basanite.figures import Axis, Chart, Table
from basanite.formats.datasets.domains import Domain
from basanite.problems import Problem
from basanite.server.pages import (
    account,
    announcements,
    campaign,
    campaign_create,
    campaign_face,
    compare,
    leaderboard,
    leaderboard_charts,
    leaderboard_exports,
    operators,
    packs,
    sign_in,
    site,
    submissions,
    submit,
    teams,
    transcripts,
)
from basanite.server.pages import leaderboard as empty_board
from basanite.server.pages.campaign import Row, Slot
from basanite.server.pages.frame import Entry, Frame, Notice
from basanite.server.pages.prose import markdown
from basanite.server.pages.templates import Paged, draw_chart
from basanite.server.pages.times import Clocks
from basanite.server.pages.values import values_of
from basanite.tasks import AnswerFormat

NOW = datetime(2018, 4, 6, 13, 30, tzinfo=UTC)
LATER, EARLIER = NOW + timedelta(days=3, hours=4), NOW - timedelta(hours=5)
LONG = "W" * 200
RTL = "فريق الاختبار العربي"
HOSTILE = "</title><script>alert(1)</script>\u202e{{ 7*7 }}"
MANY = 10_000
STATES = ("none", "one", "many", "long", "error", "rtl", "hostile")
SCRIPTS = "評価チーム 한국어 ภาษาไทย मूल्यांकन টিম አማርኛ ქართული"
"""Scripts without spaces, with marks above and below, and with letters that join (P-33)."""
NAMES = {"long": LONG, "rtl": RTL, "hostile": HOSTILE, "scripts": SCRIPTS}
PROBLEMS = (
    Problem("M64", "", None, None, "all 5 submissions of this week are used", "try again on Monday"),
    Problem("M56", HOSTILE, 3, 2, "the label has a hyphen", "write letters and digits alone"),
)


def name(state):
    """What strangers call things in this state."""
    return NAMES.get(state, "Alpha")


def count(state):
    """How many rows there are in this state."""
    return {"none": 0, "many": MANY}.get(state, 1)


def frame(state="one", **more):
    """The frame of somebody signed in, in a campaign."""
    tabs = (("Overview", ""), ("Calendar", "/calendar"), ("Data", "/packs"), ("Submissions", "/submissions"))
    entries = tuple(
        Entry(label, f"/campaigns/small{part}", part == "/calendar", 2 * (part == "")) for label, part in tabs
    )
    wrong = PROBLEMS if state == "error" else ()
    notices = (Notice("good", "Your submission is in."),) if state == "one" else ()
    base = Frame(
        Clocks(NOW, "America/New_York", "Asia/Tokyo"),
        "/campaigns/small",
        "token",
        True,
        name(state),
        campaign=name(state),
        campaign_address="/campaigns/small",
        entries=entries,
        problems=wrong,
        notices=notices,
    )
    return replace(base, **more)


def seen(state, /, number=1, **more):
    """A submission as its team sees it."""
    data = {
        "task": "clir",
        "primary": "aqwv",
        "values": {
            "aqwv": {"value": 0.3127, "low": 0.28, "high": 0.34, "units": 300, "flags": []},
            "pmiss": {"value": None, "low": None, "high": None, "units": 300, "flags": ["undefined"]},
        },
        "breakdowns": {
            "genre": {
                name(state): {"aqwv": {"value": 0.41, "low": 0.3, "high": 0.5, "units": 120}},
                "NT": {"aqwv": {"value": 0.2, "low": 0.1, "high": 0.3, "units": 7}},
            }
        },
        "notes": [name(state)],
    }
    result = SeenResult("k" * 64, "full", data, Provenance(1, "6.0.4", 1, "basanite 1.0"), NOW)
    base = SeenSubmission(
        id=f"id{number}",
        campaign="small",
        window="dev",
        team_id="t",
        team=name(state),
        own=True,
        number=number,
        task="CLIR",
        language="1A",
        dataset="DEV",
        queryset="QUERY1",
        type="primary",
        track="",
        label=name(state),
        name=f"{name(state)}.tgz",
        size=123456,
        sha256="a" * 64,
        description={"text": name(state)},
        door="web",
        person_id="p",
        started=EARLIER,
        received=EARLIER,
        standing="on time",
        standing_reason="",
        admitted=None,
        state="scored",
        final=True,
        problems=None,
        fault="",
        result=result,
    )
    return replace(base, **more)


def row(state, number=1, when="open"):
    times = {"open": (EARLIER, LATER), "coming": (LATER, LATER), "past": (EARLIER, EARLIER)}[when]
    return Row(
        f"{when}{number}",
        name(state),
        "",
        when,
        *times,
        ("CLIR", "E2E"),
        "DEV",
        ("1A",),
        "You see all.",
        "5 a week",
        True,
    )


def slot(state, number=1):
    times = (LATER, LATER)
    return Slot(f"w{number}", name(state), "CLIR", "1A", "", "DEV", "QUERY1", 3, 5, 1, 3, *times, number % 2 == 0)


def several(state, make, most=None):
    """As many rows as the state has, at most as many as the page lists."""
    wanted = count(state) if most is None else min(count(state), most)
    return tuple(make(state, number) for number in range(1, wanted + 1))


def start_page(state):
    cards = several(
        state,
        lambda s, n: site.CampaignCard(
            f"c{n}", name(s), ("CLIR", "E2E"), n % 2, name(s), LATER, "team", name(s), n == 1
        ),
        500,
    )
    return site.StartPage("Campaigns", cards)


def home_page(state):
    duties = several(state, lambda s, n: campaign.Duty(name(s), "/x", LATER), 3)
    return campaign.HomePage(
        name(state),
        several(state, row, 12),
        several(state, lambda s, n: row(s, n, "coming"), 3),
        several(state, slot, 40),
        duties,
        several(state, seen, 5),
        name(state) if state != "none" else "",
        face(state),
        name(state) if state != "none" else "",
        NOW if state != "none" else None,
    )


def face(state):
    texts = several(
        state, lambda s, n: campaign_face.FaceText(f"t{n}", name(s), markdown(f"# {name(s)}\n\n{name(s)}")), 9
    )
    ways = ("past", "open", "coming")
    moments = several(state, lambda s, n: campaign_face.Moment(name(s), ways[n % 3], NOW, LATER, name(s)), 40)
    links = several(state, lambda s, n: (name(s), "https://example.org/plan"), 9)
    known = "" if state == "none" else name(state)
    return campaign_face.Face(known, "", state == "one", texts, known, "", links, count(state), moments, LATER, None)


def new_campaign_page(state):
    offers = several(state, lambda s, n: campaign_create.Offer(f"o{n}", name(s), name(s)), 6)
    values = dict.fromkeys(campaign_create.FIELDS, "") | {"title": name(state), "description": name(state)}
    tasks = (("clir", "clir"), ("speech", "speech"))
    return campaign_create.NewCampaignPage("New campaign", offers, tasks, ("UTC", "AoE"), values)


def calendar_page(state):
    stones = several(state, lambda s, n: campaign.Stone(name(s), NOW, LATER, name(s), name(s), "moved", name(s)), 300)
    return campaign.CalendarPage(
        "Calendar",
        several(state, slot, 60),
        several(state, row, 60),
        several(state, lambda s, n: row(s, n, "coming"), 60),
        several(state, lambda s, n: row(s, n, "past"), 60),
        stones,
        "/feed.ics",
        True,
    )


def packs_page(state):
    def file(s, n):
        return PackListing(f"f{n}", "DEV", name(s), 2**30, "d" * 64, True, "")

    def pack(s, n):
        wrong = PROBLEMS if s == "error" else ()
        files = several(s, file)
        return packs.PackCard(f"P{n}", name(s), EARLIER, True, files, wrong, (("train", "yes"),), "f" * 64, LATER)

    agreements = several(
        state, lambda s, n: packs.AgreementCard(f"a{n}", name(s), "2", name(s), "missing", LATER, "s"), 10
    )
    rules = several(state, lambda s, n: UsageRules(name(s), "1", name(s) * 5), 2)
    domains = several(state, lambda s, n: Domain(f"D{n}", name(s), name(s), (name(s),), (name(s),)), 8)
    return packs.PacksPage("Data", rules, rules, agreements, several(state, pack, 1), True, True, False, domains)


def leaderboard_page(state):
    def line(s, n):
        return BoardRow(name(s), n == 1, n == 3, 0.5 - n / 50000, 0.4, 0.6, (n, n + 2), 1 + n // 4, 3, "x", name(s))

    rows = several(state, line)
    left = {"late": 2, name(state): 1} if rows else {}
    board = SeenBoard(
        "small", "dev", "CLIR", "1A", "", "aqwv", rows, left, "named", "top" if rows else "none", (name(state),)
    )
    choices = (
        leaderboard.Choice("dev|CLIR|1A|", "dev", name(state), "CLIR · 1A"),
        leaderboard.Choice("dev|E2E|1A|", "dev", name(state), "E2E · 1A"),
        leaderboard.Choice("w|CLIR|1A|", "w", "Week", "CLIR · 1A", empty=True),
    )
    if state == "one":
        rows = tuple(replace(row, values={"aqwv": (0.5, 0.4, 0.6), "map": (0.3, None, None)}) for row in rows)
        board = replace(board, rows=rows, metrics=("aqwv", "map"), fill="best", interim=True)
    empty = None if rows else empty_board.EmptyBoard("No primary runs", "2 teams have none.", "/x", "Submissions")
    return leaderboard.leaderboard_page(choices, "dev|CLIR|1A|", board, empty)


def embedded_page(state):
    shown = leaderboard_page(state)
    return leaderboard_exports.EmbeddedBoard(name(state), shown.board, shown.lines[:100], "https://example.org")


def charts_page(state):
    board = leaderboard_page(state).board
    if board.rows:
        rows = tuple(
            replace(row, received=EARLIER, declared={name(state): 10.0 * at + 1}) for at, row in enumerate(board.rows)
        )
        board = replace(board, rows=rows)
    points = [(row.name, float(day), row.value + day / 100) for row in board.rows[:8] for day in range(4)]
    over_time = draw_chart(leaderboard_charts.history_chart(board, points)) if points else None
    costs = leaderboard_charts.cost_axes(board)
    chart = leaderboard_charts.cost_chart(board, *costs[0]) if costs else None
    chosen, drawn = (costs[0][0], draw_chart(chart)) if chart else ("", None)
    return leaderboard_charts.ChartsPage("Charts", "dev|CLIR|1A|", board, over_time, drawn, costs, chosen)


def announcements_page(state):
    news = several(
        state, lambda s, n: announcements.News(f"n{n}", name(s), name(s) * 3, NOW, n > 1), announcements.MOST_NEWS
    )
    return announcements.AnnouncementsPage("News", news, len(news[:1]), True, max(count(state) - len(news), 0))


def questions_page(state):
    def asked(s, n):
        return announcements.Question(f"q{n}", name(s), NOW, name(s) if n % 2 else "", NOW, n == 1, n == 1)

    return announcements.QuestionsPage(
        "Questions", several(state, asked, announcements.MOST_QUESTIONS), True, name(state)
    )


def submit_page(state):
    choices = several(state, lambda s, n: submit.Choice(slot(s, n), '{"task": "CLIR"}', ("gpu",)), 60)
    filled = {"label": name(state), "type": "primary", "description-text": name(state)}
    held, left = several(state, upload, 3), several(state, left_upload, 3)
    formats = several(state, lambda s, n: submit.TaskFormat(name(s), AnswerFormat(name(s), name(s) * 3, name(s))), 6)
    return submit.SubmitPage(
        "Submit", choices, "w1|CLIR|1A|", "small", 2**33, False, ("gpu",), filled, "", held, left, formats
    )


def upload(state, number):
    said = {"task": "CLIR", "language": "1A"}
    return OpenUpload(f"u{number}", name(state), said, "dev", 2**40, 2**20, EARLIER, LATER, number == 1)


def left_upload(state, number):
    return LeftUpload(f"u{number}", name(state), "dev", EARLIER, "s1" if number == 1 else None)


def submissions_page(state):
    rows = several(state, seen, 50)
    found = Paged(rows, "/newest", "/older") if state == "many" else Paged(rows)
    windows = (("dev", name(state)), ("week", "Week"))
    opens, closes = Instant(EARLIER), Instant(LATER)
    open_now = Window("dev", name(state), opens, closes, ("CLIR",), ("DEV",), Quota(3), "full")
    lacking = (submissions.MissingPrimary(open_now, (name(state),)),) if rows else ()
    held, left = several(state, upload, 3), several(state, left_upload, 3)
    return submissions.SubmissionsPage("Submissions", found, windows, "dev", True, True, lacking, held, left)


def submission_page(state):
    problem = {"file": name(state), "line": 3, "field": 2, "rule": "M29", "severity": "reject", "found": name(state)}
    problem |= {"message": name(state), "fix": name(state)}
    total = count(state) if state != "one" else 0
    wrong = state in ("error", "many")
    one = seen(state, state="invalid" if wrong else "scoring" if state == "none" else "scored", final=state != "none")
    one = replace(one, result=None) if wrong or state == "none" else one
    return submissions.SubmissionPage(
        "Submission 1",
        one,
        name(state),
        name(state),
        submissions.steps(one.state),
        None if one.final else 4,
        None if one.final else timedelta(hours=3),
        (problem,) * min(total, submissions.LISTED),
        total,
        {"M29": total} if total else {},
        {},
        values_of(one.result.data, curves(state)) if one.result else None,
        1,
        True,
        True,
        True,
        {"text": name(state), "gpu": ""},
        True,
    )


def curves(state):
    """The figures of a retrieval run."""
    rows = [(at / 50, 0.6 - at / 100, form) for form in ("primary", name(state)) for at in range(50)]
    table = Table("Value over threshold", ("threshold", "value", "form"), rows)
    axes = Axis("threshold", "threshold θ", low=0.0, high=1.0), Axis("value", "query weighted value")
    chart = Chart("Value over threshold", "It falls.", "line", table, *axes, series="form", step=True)
    return chart, Table("Where the value is lost", ("step", "value", "loss"), [(name(state), 0.5, None)])


def transcripts_page(state):
    def turn(s, n):
        side = transcripts.Side("empty", "no answer found", name(s), name(s)[:5], "3 tokens · 0.2 s")
        return transcripts.Turn(f"{name(s)}{n}", n + 1, name(s), (side, None if n % 2 else side))

    turns = tuple(several(state, turn, transcripts.ROWS))
    runs, panels = (("", "none"), ("id1", name(state))), (("", "a new panel"), ("flagged", name(state)))
    return transcripts.TranscriptsPage(
        "Transcripts", "id1", name(state), (name(state), name(state)), turns, count(state), count(state), name(state),
        "", (("", "all"), ("empty", "no answer found")), "id1", runs, 25 if state == "many" else None, panels,
    )  # fmt: skip


def compare_page(state):
    runs = several(state, seen, compare.MOST_LISTED)
    page = compare.comparison_page(runs, list(runs[:4]))
    if state == "error":
        refusal = refused("S-17", "a paired test would tell too much", "choose others")
        return compare.with_test(page, OwnComparison("refused", reason=refusal))
    if state == "long":
        return compare.with_test(page, OwnComparison("computing"), "/campaigns/small/compare/state?run=id1")
    pairs = [(runs[0], one) for one in runs[1:4]] or [(one, one) for one in runs]
    why = {"kind": "dominated", "share": 0.357, "most": 0.2, "things": "units"}
    told = tuple(Pair(one.id, two.id, 0.1234, 0.01, 0.2, 0.0312, "undecided", (why,)) for one, two in pairs)
    return compare.with_test(page, OwnComparison("there", "aqwv", told)) if told else page


def certification_page(state):
    line = several(state, lambda s, n: submissions.AppealLine(f"a{n}", n, name(s), "open", NOW, LATER, name(s)), 20)
    ends = None if state == "none" else LATER
    runs = several(state, seen, submissions.MOST_RUNS)
    return submissions.CertificationPage(
        "Certification", "dev", name(state), ends, True, None, runs, line, True, name(state)
    )


def team_page(state):
    if state == "none":
        return teams.TeamPage("Take part", lead="granted", tracks=(Track("open", "Open"),))
    if state == "many":
        return teams.TeamPage("Take part", teams=tuple((f"t{n}", f"Team {n}") for n in range(MANY)))
    line = teams.MemberLine("m", "p", name(state), name(state), False, False, NOW)
    lines = (replace(line, pi=True, me=True), line)
    return teams.TeamPage("Your team", name(state), "silver-heron", "open", None, True, lines, (line,))


def resources_page(state):
    def line(s, n):
        due = (None, EARLIER, LATER)[n % 3]
        shared = NOW if n % 4 == 0 else None
        entry = (f"r{n}", "t", "harvested", "1A", name(s), "dev", due, shared, name(s) if shared else "", n % 3 == 1)
        return packs.ResourceLine(packs.Declared(*entry), "Data harvested from the web", name(s), name(s))

    lines = several(state, line, 200)
    kinds = tuple((kind, text) for kind, text in packs.KINDS.items())
    windows = (("dev", name(state)),)
    return packs.ResourcesPage(
        "Resources", lines, lines[:5], state != "many", kinds, ("1A",), windows, description=name(state)
    )


def account_page(state):
    browsers = several(state, lambda s, n: account.Browser(f"d{n}", name(s), EARLIER, NOW, True, n == 1), 100)
    other = Provider(id="p", title=name(state), issuer="https://p.example", client="c")
    return account.AccountPage(
        "Your account",
        name(state),
        "a@b.org",
        "UTC",
        ("UTC", "Asia/Tokyo"),
        True,
        False,
        browsers,
        (name(state),),
        (other,),
    )


def tokens_page(state):
    lines = several(state, lambda s, n: account.TokenLine(f"t{n}", name(s), ("read",), EARLIER, LATER, None), 20)
    return account.TokensPage("Tokens", lines, {"read": "see", "submit": "send"}, fresh="bsn_x" if lines else "")


def second_factor_page(state):
    if state == "none":
        return account.SecondFactorPage("On", True, 1)
    if state == "many":
        return account.SecondFactorPage("On", True, 8, codes=("abcd-efgh-jkmn",) * 8)
    return account.SecondFactorPage("Second factor", secret="ABCDEFGH" * 4, kept="x")


def sign_in_page(state):
    providers = several(
        state, lambda s, n: Provider(id=f"p{n}", title=name(s), issuer="https://p.example", client="c"), 5
    )
    return sign_in.SignInPage("Sign in", "/", name(state), providers)


def operator_page(state):
    def line(s, n):
        first = operators.Cell("Name", name(s))
        return first, operators.Cell("Count", str(n), numeric=True), operators.Cell("Time", moment=EARLIER)

    parts = tuple((part, part.title()) for part in operators.PARTS)
    heads = ("Name", "Count", "Time")
    return operators.OperatorPage("Users", "log", parts, heads, several(state, line, 200), "None.", name(state), "x", 9)


ALL = {
    operators.OperatorPage: operator_page,
    site.StartPage: start_page,
    site.ErrorPage: lambda state: site.ErrorPage(name(state), name(state), PROBLEMS, "0123456789abcdef", "/sign-in"),
    campaign.HomePage: home_page,
    campaign_create.SetupPage: lambda state: campaign_create.SetupPage("Set up", "s" * 64, name(state), name(state)),
    campaign_create.NewCampaignPage: new_campaign_page,
    campaign.CalendarPage: calendar_page,
    packs.PacksPage: packs_page,
    leaderboard.LeaderboardPage: leaderboard_page,
    leaderboard_charts.ChartsPage: charts_page,
    leaderboard_exports.EmbeddedBoard: embedded_page,
    announcements.AnnouncementsPage: announcements_page,
    announcements.QuestionsPage: questions_page,
    submit.SubmitPage: submit_page,
    submissions.SubmissionsPage: submissions_page,
    submissions.SubmissionPage: submission_page,
    transcripts.TranscriptsPage: transcripts_page,
    compare.ComparePage: compare_page,
    submissions.CertificationPage: certification_page,
    teams.TeamPage: team_page,
    packs.ResourcesPage: resources_page,
    teams.InvitationPage: lambda state: teams.InvitationPage("You are invited", "secret", name(state)),
    account.AccountPage: account_page,
    account.TokensPage: tokens_page,
    account.SecondFactorPage: second_factor_page,
    sign_in.SignInPage: sign_in_page,
    sign_in.SignUpPage: lambda state: sign_in.SignUpPage(
        "Sign up", name(state), name(state), sent=state == "many", open=state != "none"
    ),
    sign_in.CodePage: lambda state: sign_in.CodePage("Code"),
    sign_in.ConfirmPage: lambda state: sign_in.ConfirmPage("Confirm", "secret"),
    sign_in.ResetPage: lambda state: sign_in.ResetPage("Reset", "secret" if state == "one" else "", state == "many"),
    sign_in.ProviderPage: lambda state: sign_in.ProviderPage("Connect", name(state), name(state)),
}
"""By the dataclass of a page, what makes it in a state. An organiser's page joins by a line here."""
