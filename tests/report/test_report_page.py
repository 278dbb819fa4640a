"""Reports in a real browser: what the page computes, how it is operated, and what it never does."""

import json
import re
import shutil
from itertools import islice, pairwise

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect, sync_playwright
from reports import HOSTILE_NAMES, classifier, hostile, passengers, regressor
from sloped import sloped_classes, sloped_classifier, sloped_regressor

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.terms.formatting import format_percent
from laconic.trust.intervals import UNSEEN

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs the browser Chromium: install the package 'chromium'"
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a report from the disk; whatever the console or the network says is an error."""
    incidents, contexts = [], []

    def open_page(report, **settings):
        path = tmp_path / f"report {len(contexts)}.html"
        report.save(path)
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: incidents.append(message.text))
        page.on("pageerror", lambda error: incidents.append(str(error)))
        page.on("request", lambda request: incidents.append(request.url))
        page.goto(path.as_uri())
        assert incidents == [path.as_uri()]
        incidents.clear()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert incidents == []


@pytest.fixture(scope="module")
def classified():
    return classifier()


@pytest.fixture(scope="module")
def regressed():
    return regressor()


def control(page, position):
    return page.locator(f'[data-control="{position}"]')


def set_cell(page, position, described, value):
    """Change a feature as a reader does: by its box, its switch or its menu."""
    group = control(page, position)
    if described["kind"] == "category":
        options = [option["value"] for option in described["options"]]
        known = {value: n for n, value in enumerate(options)} | {None: len(options) + 1}
        group.locator("select").select_option(index=known.get(value, len(options)))
        return
    missing = group.locator(".missing input")
    missing.set_checked(value is None)
    if value is None:
        return
    if described["kind"] == "boolean":
        group.get_by_role("switch").set_checked(value)
    else:
        group.locator('input[type="number"]').fill(repr(value))


def random_rows(what_if, n_rows, seed=0):
    """Rows of the sample, changed to missing values, other values and numbers off the slider."""
    generator = np.random.default_rng(seed)

    def cell(described):
        if generator.random() < 0.4:
            return None
        if described["kind"] == "boolean":
            return bool(generator.random() < 0.5)
        if described["kind"] == "category":
            values = [option["value"] for option in described["options"]]
            pick = generator.integers(len(values) + 1)
            return described["other"] if pick == len(values) else values[pick]
        low, high = described["stops"][0], described["stops"][-1]
        number = generator.uniform(low - (high - low) / 4, high + (high - low) / 4)
        return float(round(number)) if described["kind"] == "integer" else float(number)

    return [
        [
            cell(described) if generator.random() < 0.3 else value
            for described, value in zip(what_if["controls"], row["values"], strict=True)
        ]
        for row in what_if["rows"][:n_rows]
    ]


def as_frame(model, controls, rows):
    """Table for `predict`, without a value where no rule looks."""
    names = model.ensemble_.feature_names
    columns = {described["name"]: cells for described, *cells in zip(controls, *rows, strict=True)}
    frame = pd.DataFrame({name: columns.get(name, [None] * len(rows)) for name in names})
    for described in controls:
        if described["kind"] == "boolean":
            frame[described["name"]] = frame[described["name"]].astype("boolean")
    return frame.astype({name: object for name in names if name not in columns})


def shown(page):
    """The prediction on the page with all its digits, the sum, and the rules that apply."""
    prediction, raw_prediction, fired = page.evaluate(
        """() => [
            document.getElementById("prediction").title,
            document.getElementById("raw-prediction").title,
            [...document.querySelectorAll("#fired li[data-term].is-fired")].map(
                item => Number(item.dataset.term)
            ),
        ]"""
    )
    return float(prediction), float(raw_prediction), fired


@pytest.mark.parametrize("task", ["classified", "regressed"])
def test_what_if_predicts_as_the_model_does(request, open_page, task):
    model, X, y = request.getfixturevalue(task)
    report = model.report(X, y)
    what_if = report.to_dict()["what_if"]
    controls = what_if["controls"]
    assert {described["kind"] for described in controls} >= {"integer", "boolean", "category"}
    page = open_page(report)
    rows = random_rows(what_if, n_rows=20)
    frame = as_frame(model, controls, rows)
    raw_predictions = model.ensemble_.raw_predictions(frame)
    expected = model.predict_proba(frame)[:, 1] if task == "classified" else model.predict(frame)
    covered = model.ensemble_.covered(frame)
    assert covered.any(axis=0).sum() >= len(model.ensemble_) / 2
    before = [object()] * len(controls)
    for position, row in enumerate(rows):
        for number, (described, value) in enumerate(zip(controls, row, strict=True)):
            if value != before[number]:
                set_cell(page, number, described, value)
        before = row
        score, raw, fired = shown(page)
        assert score == pytest.approx(expected[position], rel=1e-15)
        assert raw == raw_predictions[position]
        assert fired == (np.flatnonzero(covered[position]) + 1).tolist()
        if task == "classified":
            assert page.locator("#predicted-class").inner_text() == model.predict(frame)[position]


def contributions(page):
    """What the page says that the terms add, by number."""
    return page.evaluate(
        """() => Object.fromEntries(
            [...document.querySelectorAll("#fired li[data-term].is-fired")].map(
                item => [item.dataset.term, item.querySelector(".weight").textContent]
            )
        )"""
    )


@pytest.mark.parametrize("make", [sloped_classifier, sloped_regressor, sloped_classes])
def test_slopes_add_as_much_as_in_the_model(open_page, make):
    model, X, y = make()
    report = model.report(X, y, max_sample_rows=15)
    page = open_page(report)
    what_if = report.to_dict()["what_if"]
    told = model.explain(X)
    halves = np.abs(told.contributions) > np.abs([term.effect for term in model.ensemble_]) / 2
    for position, row in enumerate(what_if["rows"]):
        page.locator("#start-row").select_option(str(position))
        at = row["row"]
        _, raw, fired = shown(page)
        assert raw == pytest.approx(np.max(told.raw_predictions[at]), rel=1e-12)
        assert fired == list(told[at].numbers)
        expected = {
            str(number): f"{amount:+.3f}".replace("-", "−")
            for number, amount in zip(told[at].numbers, told[at].contributions, strict=True)
        }
        assert contributions(page) == expected
        n_alike = (halves == halves[at]).all(axis=1).sum()
        assert page.locator("#observed").inner_text().startswith(f"{n_alike} row")


def test_a_slope_follows_its_slider_and_its_box(open_page):
    model, X, y = sloped_regressor()
    report = model.report(X, y)
    page = open_page(report)
    names = [described["name"] for described in report.to_dict()["what_if"]["controls"]]
    age, admitted = names.index("age"), names.index("admitted")
    box = control(page, age).locator('input[type="number"]')
    for value, amount in (("54", "+0.899"), ("80", "+1.333"), ("25.5", "+0.016")):
        box.fill(value)
        assert contributions(page)["1"] == amount
    box.fill("20")
    assert "1" not in contributions(page)
    item = page.locator('#fired li[data-term="1"]')
    assert item.locator(".weight").inner_text() == "+1.333"
    assert item.locator(".fired-state").text_content() == "does not apply: "
    control(page, age).locator(".missing input").set_checked(True)
    assert contributions(page)["1"] == "+0.620"
    control(page, admitted).locator('input[type="date"]').fill("2020-09-09")
    assert contributions(page)["4"] == "+0.100"
    # The line below the slider is straight between its stops.
    page.wait_for_timeout(100)
    line = control(page, age).locator(".profile-line").get_attribute("d")
    assert line.count("L") > 10
    assert "V" not in line


@pytest.mark.parametrize("task", ["classified", "regressed"])
def test_every_row_of_the_sample_can_be_the_start(request, open_page, task):
    model, X, y = request.getfixturevalue(task)
    report = model.report(X, y, max_sample_rows=25)
    page = open_page(report)
    expected = model.predict_proba(X)[:, 1] if task == "classified" else model.predict(X)
    for position, row in enumerate(report.to_dict()["what_if"]["rows"]):
        page.locator("#start-row").select_option(str(position))
        assert shown(page)[0] == pytest.approx(expected[row["row"]], rel=1e-15)
        assert page.locator("#change").inner_text() == "Same as the starting row."


@pytest.mark.parametrize("task", ["classified", "regressed"])
def test_what_was_observed_stands_beside_what_is_predicted(request, open_page, task):
    model, X, y = request.getfixturevalue(task)
    report = model.report(X, y)
    page = open_page(report)
    covered = model.ensemble_.covered(X)
    sizes = set()
    for position, row in islice(enumerate(report.to_dict()["what_if"]["rows"]), 0, None, 3):
        page.locator("#start-row").select_option(str(position))
        alike = (covered == covered[row["row"]]).all(axis=1)
        n_rows, text = alike.sum(), page.locator("#observed").inner_text()
        sizes.add(n_rows >= 20)
        assert text.startswith(f"{n_rows} row{'s' if n_rows > 1 else ''} like this: ")
        if task == "regressed":
            assert float(text.split(": ")[1].split()[0].rstrip(".")) == pytest.approx(
                y[alike].mean(), rel=1e-3
            )
        elif n_rows >= 20:
            share = format_percent((y[alike] == "survived").mean())
            assert text.endswith(f": {share} survived.")
        elif n_rows > 1:
            n_survived = (y[alike] == "survived").sum()
            share = {0: "none", n_rows: "all"}.get(n_survived, n_survived)
            assert text.endswith(f": {share} of them survived.")
        else:
            assert text.endswith(f": {y[alike].item()}.")
    assert sizes == {True, False}


@pytest.mark.parametrize(
    ("n_rows", "max_sample_rows", "words"),
    [
        (1, 1, {"No rows like this."}),
        (400, 0, {"No rows like this.", "At most 4 rows like this: too few to show."}),
    ],
)
def test_where_little_was_observed_that_is_said(
    open_page, classified, n_rows, max_sample_rows, words
):
    model, X, y = classified
    report = model.report(X[:n_rows], y[:n_rows], max_sample_rows=max_sample_rows)
    page = open_page(report)
    seen = set()
    for position, described in enumerate(report.to_dict()["what_if"]["controls"]):
        for value in (None, *described.get("stops", [True, False])[::10]):
            set_cell(page, position, described, value)
            seen.add(page.locator("#observed").inner_text())
    assert seen & words, seen
    groups = report.to_dict()["what_if"]["groups"]
    assert max_sample_rows or min(group["n_rows"] for group in groups) >= 5


@pytest.mark.parametrize("task", ["classified", "regressed"])
def test_marks_of_charts_tell_their_values(request, open_page, task):
    model, X, y = request.getfixturevalue(task)
    greedy = model.report(X, y, baseline=model)
    page = open_page(greedy, viewport={"width": 1400, "height": 900})
    figures = page.locator("figure")
    assert figures.count() >= 4
    for figure in figures.all():
        before = figure.locator(".readout").inner_text()
        for mark in (figure.locator(".mark").first, figure.locator(".mark").last):
            title = mark.locator("title").text_content()
            assert re.search(r"\d", title)
            mark.hover(force=True)
            if "is-small" not in mark.get_attribute("class"):  # a point may lie under another
                assert figure.locator(".readout").inner_text() == title
        page.mouse.move(0, 0)
        assert figure.locator(".readout").inner_text() == before


def test_a_change_is_reported_and_reset(open_page, classified):
    model, X, y = classified
    report = model.report(X, y)
    what_if = report.to_dict()["what_if"]
    page = open_page(report)
    start = shown(page)
    position = [described["name"] for described in what_if["controls"]].index("sex")
    control(page, position).locator("select").select_option("female")
    assert shown(page) != start
    assert " points from " in page.locator("#change").inner_text()
    expect(page.locator("#announcement")).to_contain_text("Probability of survived")
    page.get_by_role("button", name="Reset").click()
    assert shown(page) == start


def test_sliders_obey_the_keyboard(open_page, classified):
    model, X, y = classified
    report = model.report(X, y)
    controls = report.to_dict()["what_if"]["controls"]
    page = open_page(report)
    position = [described["name"] for described in controls].index("age")
    slider = control(page, position).get_by_role("slider")
    number = control(page, position).get_by_role("spinbutton")
    slider.focus()
    page.keyboard.press("Home")
    stops = controls[position]["stops"]
    assert float(number.input_value()) == stops[0]
    page.keyboard.press("ArrowRight")
    assert float(number.input_value()) == stops[1]
    assert slider.get_attribute("aria-valuetext") == str(int(stops[1]))
    page.keyboard.press("End")
    assert float(number.input_value()) == stops[-1]


@pytest.mark.parametrize("task", ["classified", "regressed"])
def test_a_slider_stands_where_its_number_is(request, open_page, task):
    model, X, y = request.getfixturevalue(task)
    report = model.report(X, y)
    page = open_page(report)
    for position, described in enumerate(report.to_dict()["what_if"]["controls"]):
        if described["kind"] not in ("number", "integer"):
            continue
        group, stops = control(page, position), described["stops"]
        for place in {0, 1, len(stops) // 2, len(stops) - 1}:
            group.locator('input[type="number"]').fill(repr(stops[place]))
            assert group.get_by_role("slider").input_value() == str(place)


def test_a_missing_value_disables_its_number(open_page, classified):
    model, X, y = classified
    report = model.report(X, y)
    names = [described["name"] for described in report.to_dict()["what_if"]["controls"]]
    page = open_page(report)
    group = control(page, names.index("age"))
    group.locator(".missing input").focus()
    page.keyboard.press("Space")
    assert group.get_by_role("slider").is_disabled()
    page.keyboard.press("Space")
    assert group.get_by_role("slider").is_enabled()


def test_the_size_slider_shows_smaller_models(open_page, classified):
    model, X, y = classified
    report = model.report(X, y)
    path = report.to_dict()["path"]
    page = open_page(report)
    slider = page.get_by_role("slider", name="Number of terms")
    slider.focus()
    for size in range(len(model.ensemble_) - 1, -1, -1):
        page.keyboard.press("ArrowLeft")
        n_conditions = model.ensemble_[:size].n_conditions
        text = page.locator("#size-output").inner_text()
        assert text.startswith(f"{size} of {len(model.ensemble_)} terms, {n_conditions} condition")
        assert page.locator(".term.is-left-out").count() == len(model.ensemble_) - size
        accuracy = page.locator('output[data-metric="0"]').inner_text()
        assert float(accuracy) == pytest.approx(path["metrics"][0]["values"][size], abs=5e-4)
        chosen = page.locator("#score .chart").first.locator(".path-point.is-chosen")
        assert chosen.count() == 1


def test_hostile_texts_are_shown_as_texts_and_do_nothing(open_page):
    model, X, y = hostile()
    page = open_page(model.report(X, y))
    assert page.evaluate("window.attacked") is None
    assert page.locator("img").count() == 0
    text = page.locator("body").inner_text()
    for name in (HOSTILE_NAMES[0], HOSTILE_NAMES[1], HOSTILE_NAMES[-1]):
        assert name in text
    for group in page.locator("[data-control] select").all():
        for index in range(group.locator("option").count()):
            group.select_option(index=index)
    assert page.evaluate("window.attacked") is None


def test_even_markup_that_got_into_the_page_could_not_run(browser, classified, tmp_path):
    model, X, y = classified
    model.report(X, y).save(tmp_path / "report.html")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate(
            """() => {
                document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='attack = 1'>");
                const script = document.createElement("script");
                script.textContent = "window.attack = 1";
                document.body.append(script);
            }"""
        )
    assert page.evaluate("typeof attack") == "undefined"
    page.close()


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
def test_the_page_fits_every_width(open_page, classified, width):
    model, X, y = classified
    page = open_page(model.report(X, y), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_cut_off(open_page, classified, width):
    model, X, y = classified
    page = open_page(model.report(X, y, baseline=model), viewport={"width": width, "height": 900})
    assert page.evaluate(CUT_OFF) == []


def test_long_names_do_not_widen_the_page(open_page):
    model, X, y = hostile()
    page = open_page(model.report(X, y), viewport={"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_many_rules_show_only_those_that_apply(open_page):
    model, X, y = hostile()
    page = open_page(model.report(X, y))
    n_fired = len(shown(page)[2])
    assert page.locator("#fired li[data-term]:visible").count() == n_fired
    assert page.locator("#n-not-fired").inner_text() == str(len(model.ensemble_) - n_fired)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(open_page, classified, scheme):
    model, X, y = classified
    page = open_page(model.report(X, y), color_scheme=scheme)
    worst = page.evaluate(CONTRAST)
    assert worst["ratio"] >= 4.5, worst


def test_every_control_has_a_name_and_every_picture_words(open_page, classified):
    model, X, y = classified
    page = open_page(model.report(X, y))
    for role in ("slider", "spinbutton", "combobox", "switch", "checkbox", "button", "img"):
        elements = page.get_by_role(role).all()
        assert elements, role
        for element in elements:
            named = element.evaluate(
                "e => e.ariaLabel || e.textContent.trim() || [...(e.labels || [])].length"
            )
            assert named, element.evaluate("e => e.outerHTML")
    levels = page.locator("h1, h2, h3, h4").evaluate_all("hs => hs.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_it_prints_all_but_the_controls(open_page, classified):
    model, X, y = classified
    page = open_page(model.report(X, y), color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#what-if").is_hidden()
    assert page.locator("#terms").is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 10_000


def test_rules_can_be_read_without_scripts(open_page, classified):
    model, X, y = classified
    page = open_page(model.report(X, y), java_script_enabled=False)
    assert page.locator("#terms .term").count() == len(model.ensemble_)
    assert page.locator("#controls").is_hidden()
    assert "needs JavaScript" in page.locator("#what-if").inner_text()


def test_a_notebook_frame_works(browser, tmp_path, classified):
    model, X, y = classified
    (tmp_path / "notebook.html").write_text(
        f"<!DOCTYPE html><body>{model.report(X, y)._repr_html_()}</body>", encoding="utf-8"
    )
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    assert frame.locator("#prediction").inner_text().endswith("%")
    assert errors == []
    page.close()


def test_ten_thousand_rows_open_as_fast_as_few(open_page):
    model, _, _ = classifier()
    X, y = passengers(10_000, seed=1)
    page = open_page(model.report(X, y))
    content = json.loads(page.locator("#page-data").text_content())
    assert len(content["whatIf"]["rows"]) == 100
    assert page.locator("#start-row option").count() == 101


# Texts that their elements are too small for, and charts whose texts leave the drawing.
CUT_OFF = """() => {
  const cut = [];
  for (const element of document.querySelectorAll("body *")) {
    const isExempt = element.closest(".visually-hidden, .skip, select, svg");
    if (isExempt || !element.checkVisibility()) continue;
    const hides = getComputedStyle(element).overflowX !== "visible";
    const isCut = hides && element.scrollWidth > element.clientWidth + 1;
    if (isCut) cut.push(element.outerHTML.slice(0, 90));
  }
  for (const text of document.querySelectorAll("svg text")) {
    const [inner, outer] = [text, text.ownerSVGElement].map((e) => e.getBoundingClientRect());
    if (inner.left < outer.left - 1 || inner.right > outer.right + 1) cut.push(text.textContent);
  }
  return cut;
}"""


# The smallest contrast between a text and the nearest ground that is painted, as WCAG defines it.
# Disabled controls and rules that are left out are exempt.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  let worst = { ratio: Infinity };
  const walker = document.createTreeWalker(document.querySelector("body"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("script, svg, option")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [rgba(style.color), ground(element)].map(luminance).sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text, tag: element.outerHTML.slice(0, 120) };
  }
  return worst;
}"""


def with_intervals(kind, y, **settings):
    X = np.linspace(0, 1, 80).round(3)[:, np.newaxis]
    model = kind(2).fit(X, y)
    model.conformalize(X, y, cv=4, **settings)
    return model, X


def shown_interval(page, value):
    control(page, 0).locator('input[type="number"]').fill(repr(value))
    return page.locator("#interval").inner_text()


def test_the_what_if_says_how_sure_a_number_is(open_page):
    y = np.repeat([0.0, 10.0], 40) + np.arange(80) % 7
    model, X = with_intervals(RuleBoostingRegressor, y)
    page = open_page(model.report(X, y))
    for value in (0.1, 0.9):
        lower, upper = (f"{end:,.4g}" for end in model.predict_interval([[value]])[0])
        words = f"For about 9 of 10 such rows the value lies between {lower} and {upper}."
        assert shown_interval(page, value).replace("−", "-") == words
    model.conformalize(X, y, cv=4, level=0.999)
    assert shown_interval(open_page(model.report(X, y)), 0.5).startswith("Too few such rows")


def test_the_what_if_names_the_classes_that_are_likely_enough(open_page):
    y = np.where(np.arange(80) // 20 % 2 + (np.arange(80) % 9 == 0) > 0, "yes", "no")
    model, X = with_intervals(RuleBoostingClassifier, y, level=0.95)
    page = open_page(model.report(X, y))
    for value in np.linspace(0, 1, 9).tolist():
        [words] = model.predict_set([[value]], words=True)
        shown = shown_interval(page, value)
        if words == UNSEEN:
            assert shown == "Unlike the rows seen: no class is likely enough."
        else:
            assert shown.startswith(
                f"Likely enough: {words}. About 19 of 20 rows of each class have their class"
            )


def test_how_sure_fits_a_phone_with_long_names(open_page):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"{'concentration' * 8}_{name}": rng.normal(size=200) for name in "ab"})
    y = pd.Series(X.iloc[:, 0] + 3 * (X.iloc[:, 1] > 0), name="the duration of the stay " * 3)
    model = RuleBoostingRegressor(2).fit(X[:100], y[:100])
    model.stability(X[:100], y[:100], n_resamples=3)
    model.effects(X[100:], y[100:])
    model.conformalize(X[:100], y[:100], cv=3)
    page = open_page(model.report(X[100:], y[100:]), viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    is_outside = """svg => [...svg.querySelectorAll("text")].some(text => {
        const [a, b] = [svg, text].map(each => each.getBoundingClientRect());
        const isWide = b.left < a.left - 1 || b.right > a.right + 1;
        return isWide || b.top < a.top - 1 || b.bottom > a.bottom + 1;
    })"""
    charts = page.locator("#how-sure svg.chart")
    assert charts.count() == 2
    for chart in charts.all():
        assert not chart.evaluate(is_outside)
    chart = charts.first
    chart.locator(".mark").first.hover()
    assert page.locator("#how-sure .readout").inner_text().startswith("term 1: ")


def test_a_model_that_was_not_calibrated_says_nothing_of_it(open_page, regressed):
    model, X, y = regressed
    assert open_page(model.report(X, y)).locator("#interval").count() == 0
