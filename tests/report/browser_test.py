"""Goal: the live page of a run works in a real browser: it shows the run, live, silent and finished; it asks nobody but
its own server; who has not the token sees nothing; it can be used by keyboard, in dark and light, at 360 pixels.

Method: `forebay watch` over a made run, and Debian's Chromium driven by selenium. Pictures of the page are kept in
BUILD/screenshots for people to look at. What is measured is printed; no time is held.
"""

import base64
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from forebay_test import BUILD, FOREBAY, forebay, run

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
MAKE = BUILD / "tests" / "make_page_run"
PICTURES = BUILD / "screenshots"
PATIENCE_S = 120


def cannot(why):
    print(f"cannot run: {why}")
    sys.exit(77)


for program in (CHROMIUM, DRIVER):
    if not os.path.exists(program):
        cannot(f"there is no {program}; apt-get install chromium chromium-driver")
try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    cannot("the Python environment has no selenium; scripts/bootstrap")
if "not in this build" in forebay("watch", "--help"):
    cannot("this build has no cpp-httplib; apt-get install libcpp-httplib-dev")


class Watching:
    """A `forebay watch` that runs."""

    def __init__(self, run_path, *options):
        self.began = time.monotonic()
        # Charts are drawn by the python3 in PATH.
        environment = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
        self.process = subprocess.Popen([FOREBAY, "watch", run_path, *options], env=environment, stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        self.ssh = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.url)
        self.port, self.origin = parts.port, f"{parts.scheme}://{parts.netloc}"
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def ask(self, path, token=None, host=None, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, path, headers={"Authorization": f"Bearer {token or self.token}",
                                                  **({"Host": host} if host else {})})
        answer = connection.getresponse()
        told = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return told

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return code


def new_browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--window-size=1280,900",
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={profile}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=webdriver.ChromeService(DRIVER), options=options)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.run_path = str(pathlib.Path(cls.place.name) / "run")
        environment = os.environ | {"FOREBAY_AGENT": str(FOREBAY)}
        run(MAKE, cls.run_path, "run", "64", env=environment)
        run(MAKE, cls.run_path, "live")
        PICTURES.mkdir(exist_ok=True)
        cls.browser = new_browser(cls.place.name + "/profile")
        cls.browser.set_page_load_timeout(PATIENCE_S)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.place.cleanup()

    def setUp(self):
        self.make("live")
        self.watching = Watching(self.run_path)
        self.addCleanup(lambda: self.watching.process.poll() is None and self.watching.end())
        self.browser.get("about:blank")  # the page of the test before looks for its server
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)

    def make(self, what):
        run(MAKE, self.run_path, what)

    def wait(self, what, script, *arguments):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = self.browser.execute_script(script, *arguments)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"not within {PATIENCE_S} s: {what}\n{self.text()[:1500]}")

    def text(self):
        return self.browser.find_element(By.TAG_NAME, "body").text

    def open(self):
        self.browser.get(self.watching.url)
        self.wait("the state is shown", "return document.querySelectorAll('#tiles li').length > 5")

    def open_with_pictures(self):
        self.open()
        self.wait("the slice is drawn", "return document.getElementById('field-picture').naturalWidth > 0")
        self.wait("particles are drawn", "return document.getElementById('particles-picture').naturalWidth > 0")
        self.wait("results are drawn", "return document.getElementById('result-picture').naturalWidth > 0")
        self.wait("the histogram is drawn", "return document.querySelectorAll('#histogram-chart canvas').length > 0")

    def change_field(self, change):
        """Does it, and waits for its picture: bytes, words and all. Words come after bytes."""
        before = self.browser.execute_script("return document.getElementById('field-picture').src")
        change()
        self.wait("another picture", "const p = document.getElementById('field-picture');"
                  "return p.src !== arguments[0] && !p.classList.contains('waiting')", before)

    def picture(self, name, page="watch"):
        size = self.browser.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}})
        (PICTURES / f"{page}-{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def size(self, width, height=900):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def colours(self, scheme):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def check_console(self):
        told = [entry for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(told, [])

    def check_requests(self):
        seen = 0
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            url = message["params"]["request"]["url"]
            self.assertTrue(url.startswith((self.watching.origin + "/", "blob:" + self.watching.origin, "data:")), url)
            seen += 1
        self.assertGreaterEqual(seen, 2)  # the page and its events

    def test_shows_the_run(self):
        before = {path: path.stat().st_mtime_ns for path in pathlib.Path(self.run_path).rglob("*")}
        self.open()
        print(f"first page: {1000 * (time.monotonic() - self.watching.began):.0f} ms from the command to the numbers")
        self.open_with_pictures()
        self.browser.execute_script("document.activeElement.blur()")
        text = self.text()
        for words in ("live", "90 agents", "Newest durable step: 1200 of stream state", "The job ends in", "nid10007",
                      "OST0005", "blocked a save", "slack", "backlog", "state.map", "Snapshots that exist"):
            self.assertIn(words, text)
        self.assertEqual(self.browser.current_url, self.watching.origin + "/")  # the token has left the address
        self.assertTrue(self.browser.execute_script("return document.querySelectorAll('.uplot canvas').length >= 3"))
        self.picture("light")
        self.check_console()
        self.check_requests()
        self.browser.refresh()
        self.wait("the page again", "return document.querySelectorAll('#tiles li').length > 5")
        self.assertEqual({path: path.stat().st_mtime_ns for path in pathlib.Path(self.run_path).rglob("*")}, before)

    def test_slider_changes_the_picture(self):
        self.open_with_pictures()
        slider = self.browser.find_element(By.ID, "field-index")
        taken = []
        for _ in range(8):
            self.change_field(lambda: slider.send_keys(Keys.ARROW_RIGHT))
            taken.append(float(self.browser.find_element(By.ID, "field-picture").get_attribute("data-milliseconds")))
        print(f"slice of 64 x 64 in the browser: {sorted(taken)[len(taken) // 2]:.1f} ms, asked and decoded")
        self.assertIn("z = 40", self.browser.find_element(By.ID, "field-caption").text)
        self.assertIn("z = 40", self.browser.find_element(By.ID, "field-picture").get_attribute("alt"))
        for name, value in (("field-palette", "grey"), ("field-axis", "2"), ("field-view", "projection")):
            choice = Select(self.browser.find_element(By.ID, name))
            self.change_field(lambda choice=choice, value=value: choice.select_by_value(value))
        self.assertIn("Sum of", self.browser.find_element(By.ID, "field-caption").text)
        self.check_console()
        # The page reports a wrong range, and goes on.
        self.browser.find_element(By.ID, "field-low").send_keys("warm" + Keys.TAB)
        self.wait("words of the error", "return document.getElementById('field-caption').textContent.includes('low must be a number')")

    def test_slice_of_512(self):
        taken = []
        for index in range(16):
            began = time.monotonic()
            status, headers, body = self.watching.ask(f"/slice?stream=state&variable=fields/wide&axis=0&index={index}")
            taken.append(1000 * (time.monotonic() - began))
            self.assertEqual((status, headers["Content-Type"], body[:4]), (200, "image/png", b"\x89PNG"))
        print(f"slice of 512 x 512: {sorted(taken)[8]:.1f} ms, the first {taken[0]:.1f} ms, asked and answered")

    def test_silent_finished_and_live(self):
        self.open()
        self.make("silent")
        self.wait("silence", "return document.getElementById('badge').textContent === 'agent silent'")
        self.assertIn("1 of 90 agents are silent", self.text())
        self.assertIn("nid10003", self.browser.find_element(By.ID, "standing").text)
        self.assertIn("write: the target is not there", self.text())
        self.picture("silent")
        self.make("finished")
        self.wait("the end", "return document.getElementById('badge').textContent === 'finished'")
        self.assertIn("Everything that was saved is committed", self.text())
        self.picture("finished")
        late = []
        for _ in range(5):
            for what in ("live", "finished"):
                before = self.browser.execute_script("return window.forebay_seen.told")
                self.make(what)
                self.wait("news", "return window.forebay_seen.told !== arguments[0]", before)
                seen = self.browser.execute_script("return window.forebay_seen")
                late.append(1000 * (seen["seen"] - seen["told"]))
        print(f"events: {sorted(late)[len(late) // 2]:.1f} ms late, at most {max(late):.1f} ms")
        self.check_console()

    def test_wrong_token_sees_nothing(self):
        for url in (self.watching.origin + "/?token=" + "0" * 32, self.watching.origin + "/state?token=x",
                    self.watching.origin + "/nothing"):
            self.browser.get("about:blank")
            self.browser.get(url)
            self.assertNotIn(self.run_path, self.browser.page_source)
            self.assertIn("token", self.text())
        name = urllib.parse.quote("fields/temperature")
        for path in ("/", "/state", "/fields", "/pictures", "/events", f"/slice?stream=state&variable={name}", "/metrics"):
            status, _, body = self.watching.ask(path, token="f" * 32)
            self.assertEqual((path, status), (path, 403))
            self.assertNotIn(b"state\":", body)
            self.assertEqual(self.watching.ask(path, host="evil.example:80")[0], 403)
        self.assertEqual(self.watching.ask("/state", method="POST")[0], 405)
        self.assertEqual(self.watching.ask("/state", host=f"localhost:{self.watching.port + 1}")[0], 200)  # a tunnel's port

    def test_dark_and_light(self):
        self.open_with_pictures()
        papers = {}
        for scheme in ("dark", "light"):
            self.colours(scheme)
            self.addCleanup(self.colours, "light")
            papers[scheme] = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            if scheme == "dark":
                time.sleep(0.3)
                self.picture("dark")
        self.assertNotEqual(papers["dark"], papers["light"])
        self.check_console()

    def test_narrow_and_projector(self):
        for width, height in ((360, 780), (1920, 1080)):
            self.size(width, height)
            self.open_with_pictures()
            time.sleep(0.4)
            widest = self.browser.execute_script(
                "return [document.documentElement.scrollWidth, [...document.querySelectorAll('body *')].filter(e =>"
                "!e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '#' + e.id +"
                " '.' + e.className).slice(0, 5)]")
            self.picture(str(width))
            self.assertLessEqual(widest[0], width, widest)
        self.check_console()

    def test_keyboard_and_words(self):
        self.open_with_pictures()
        unnamed = self.browser.execute_script(
            "return [...document.querySelectorAll('img:not([hidden]), canvas[role=img], .chart')].filter(e => e.offsetParent"
            " && (e.childElementCount || !e.matches('.chart')) && !e.alt && !e.getAttribute('aria-label')).map(e => e.id)")
        self.assertEqual(unnamed, [])
        unlabelled = self.browser.execute_script(
            "return [...document.querySelectorAll('select, input')].filter(e => e.labels.length === 0).map(e => e.id)")
        self.assertEqual(unlabelled, [])
        heat = self.browser.find_element(By.ID, "heat")
        heat.send_keys(Keys.ARROW_RIGHT)
        first = self.browser.find_element(By.ID, "heat-cell").text
        heat.send_keys(Keys.ARROW_DOWN)
        self.assertIn("nid10007", first)
        self.assertNotEqual(first, self.browser.find_element(By.ID, "heat-cell").text)
        order = []
        self.browser.execute_script("document.getElementById('heat').focus()")
        for _ in range(12):
            self.browser.switch_to.active_element.send_keys(Keys.TAB)
            order.append(self.browser.switch_to.active_element.get_attribute("id"))
        expected = ["field-stream", "field-step", "field-variable", "field-axis", "field-view", "field-palette",
                    "field-low", "field-high", "field-log", "field-index"]
        self.assertEqual([one for one in order if one.startswith("field")], expected)

    def test_connection_lost_and_found(self):
        self.open()
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.assertEqual(self.watching.end(), 0)
        self.wait("words of the loss", "return document.getElementById('connection').textContent.includes('Connection lost')")
        self.picture("lost")
        self.assertFalse(self.browser.execute_script("return document.getElementById('connection').hidden"))

    def test_comes_back(self):
        self.open()
        self.browser.execute_cdp_cmd("Network.enable", {})
        offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.browser.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **offline})
        self.addCleanup(self.browser.execute_cdp_cmd, "Network.emulateNetworkConditions", {"offline": False, **offline})
        self.browser.execute_script("source.close(); listen()")  # what is open stays open
        self.wait("words of the loss", "return !document.getElementById('connection').hidden")
        self.browser.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **offline})
        self.wait("the connection", "return document.getElementById('connection').hidden")

    def test_hostile_names_stay_text(self):
        hostile = str(pathlib.Path(self.place.name) / "hostile")
        run(MAKE, hostile, "hostile")
        self.watching.end()
        self.watching = Watching(hostile)
        self.open()
        self.picture("hostile")
        self.assertIn("<img src=x", self.text())
        self.assertIsNone(self.browser.execute_script("return window.forebay_hurt || null"))
        self.assertEqual(self.browser.execute_script("return document.querySelectorAll('img[src=\"x\"]').length"), 0)
        self.check_console()
        self.check_requests()

    def test_report_opens_alone(self):
        page = pathlib.Path(self.place.name) / "report.html"
        forebay("report", self.run_path, "--html", page)
        for name, scheme, width in (("light", "light", 1280), ("dark", "dark", 1280), ("360", "light", 360)):
            self.colours(scheme)
            self.size(width)
            self.browser.get(page.as_uri())
            time.sleep(0.4)
            self.picture(name, "report")
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
        self.colours("light")
        self.assertIn("nid10007", self.text())
        self.check_console()
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertTrue(message["params"]["request"]["url"].startswith(("file:", "data:", "blob:")))

    def test_ends_by_both_signals(self):
        self.assertIn(f"ssh -N -L {self.watching.port}:127.0.0.1:{self.watching.port} ", self.watching.ssh)
        self.assertEqual(self.watching.end(signal.SIGTERM), 0)
        other = Watching(self.run_path, "--port", str(self.watching.port))
        self.assertEqual(other.port, self.watching.port)
        taken = forebay("watch", self.run_path, "--port", other.port, code=2)
        self.assertIn("is not available", taken)
        self.assertEqual(other.end(), 0)
        self.assertIn("--anywhere", forebay("watch", self.run_path, "--host", "0.0.0.0", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=1)
