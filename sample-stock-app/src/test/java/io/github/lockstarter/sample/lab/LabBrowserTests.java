// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.imageio.ImageIO;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.sample.lab.LabBrowser.Look;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page of the lab in a real browser, with a real shop behind it. The directory
 * target/lab has pictures of what the tests saw.
 */
@Tag("clock")
@FullProfileOnly
@EnabledIf(value = "io.github.lockstarter.sample.lab.LabBrowser#isInstalled",
		disabledReason = "Debian's packages chromium and chromium-driver are not installed")
class LabBrowserTests {

	private static final String CHOSEN = "#strategies=distributed-lock&instances=2&users=20&stock=%d&fault=none";

	private static final String LONG = "#strategies=distributed-lock,distributed-lock-fair,distributed-lock-fenced"
			+ "&instances=2&users=20&stock=2000&fault=none";

	@TempDir
	private static Path directory;

	private static ShopProcess shop;

	private static LabBrowser browser;

	private static String page;

	@BeforeAll
	static void open() {
		shop = ShopProcess.start(directory.resolve("shop")).awaitOpen();
		page = "http://127.0.0.1:" + shop.port() + "/";
		browser = new LabBrowser(Path.of("target", "lab"), directory);
	}

	@AfterAll
	static void close() {
		if (browser != null) {
			browser.close();
		}
		if (shop != null) {
			shop.close();
		}
	}

	@BeforeEach
	void start() {
		browser.look(Look.ALL.get(0));
		open("");
	}

	private static void open(String link) {
		browser.open(page + link);
		browser.await(LabBrowserTests::isIdle);
	}

	private static boolean isIdle() {
		return "false".equals(browser.find("#run").getAttribute("aria-disabled"));
	}

	private static void awaitSale() {
		browser.await(() -> !browser.text(".current [data-part=sold]").matches("0?"));
	}

	private static void awaitEnd(int results) {
		browser.await(() -> browser.findAll("#rows tr").size() == results && isIdle());
	}

	private static List<String> texts(String selector) {
		return browser.findAll(selector).stream().map(WebElement::getText).toList();
	}

	private static int number(String selector) {
		return Integer.parseInt(browser.text(selector).replace(",", ""));
	}

	@Test
	void theBigButtonOversellsWithoutALockAndNeverWithOurs() {
		checkLooks("idle", "footer");
		browser.press(Keys.TAB);
		assertThat(browser.driver().switchTo().activeElement().getText())
			.isEqualTo("Sell 500 pieces without a lock, then with ours");
		browser.press(Keys.ENTER);
		awaitSale();
		browser.picture("selling", ".stocks");
		assertThat(browser.findings()).isEmpty();
		awaitEnd(2);
		checkLooks("ended", "#comparison");
		browser.script("document.activeElement.blur()");
		browser.picture("comparison", ".stocks");
		// On a busy machine, the time is over before more is sold than there is
		assertThat(number(".card.wrong [data-part=oversold]"))
			.isEqualTo(Math.max(0, number(".card.wrong [data-part=sold]") - 500));
		assertThat(number(".card.wrong [data-part=lost]")).isPositive();
		assertThat(number(".card.right [data-part=oversold]")).isZero();
		assertThat(number(".card.right [data-part=lost]")).isZero();
		assertThat(number(".card.right [data-part=sold]")).isEqualTo(500);
		assertThat(twice(".card.wrong")).isPositive();
		assertThat(twice(".card.right")).isZero();
		assertThat(texts("#rows th")).containsExactly("none", "distributed-lock");
		assertThat(texts("#rows .outcome")).containsExactly("✕ wrong", "✓ right");
		assertThat(browser.text("#message")).startsWith("Without a lock the shop sold ")
			.contains("With our lock the shop sold 500 of 500");
		assertThat(texts(".instance h3")).hasSize(2).allMatch((text) -> text.endsWith("idle"));
		assertThat(browser.text("#error")).isEmpty();
		assertThat(browser.complaints()).isEmpty();
	}

	/** How many boxes are red, as the picture says in words. */
	private static int twice(String card) {
		String label = browser.find(card + " canvas").getAttribute("aria-label");
		return Integer.parseInt(label.replaceFirst(".* (\\d+) sold more than once", "$1"));
	}

	private static void checkLooks(String state, String end) {
		for (Look look : Look.ALL) {
			browser.look(look);
			// Where the bar of the choices hides none of them
			browser.script("scrollTo(0, document.body.scrollHeight)");
			browser.picture(state + "-" + look, end);
			assertThat(browser.findings()).as("%s, %s", state, look).isEmpty();
		}
		browser.look(Look.ALL.get(0));
	}

	@Test
	void aLinkLandsOnItsGridsWithOneButtonThatSaysWhatItDoes() {
		for (Look look : Look.ALL) {
			browser.look(look);
			open("#strategies=redisson,distributed-lock&instances=3&users=20&stock=200&fault=crash");
			assertThat(browser.text("#run"))
				.isEqualTo("Sell 200 pieces with redisson, then with ours, and crash an instance");
			assertThat(texts("#stocks h3")).containsExactly("redisson", "With our lock\ndistributed-lock");
			assertThat(browser.text("#lead")).contains("3 instances", "200 pieces", "20 customers");
			assertThat(browser.text("#message")).isEqualTo("Ready: 3 instances, 20 customers, 200 pieces, a crash.");
			assertThat(List.of("#run", ".card canvas")).as("%s", look).allMatch(LabBrowserTests::isInSight);
			assertThat(browser.driver().switchTo().activeElement().getAttribute("id")).isEqualTo("run");
			browser.screen("landing-" + look);
			assertThat(browser.findings()).isEmpty();
		}
		browser.find("#run").click();
		browser.await(() -> !browser.text(".current h3").isEmpty());
		browser.find("#stop").click();
		browser.await(LabBrowserTests::isIdle);
		// Back to what the page shows first
		browser.script("location.hash = ''");
		browser.await(() -> browser.text("#run").equals("Sell 500 pieces without a lock, then with ours"));
		assertThat(browser.text("#lead")).contains("2 instances", "500 pieces", "50 customers");
	}

	private static boolean isInSight(String selector) {
		return (Boolean) browser.script("""
				const { top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect();
				return top >= 0 && bottom <= innerHeight""", selector);
	}

	@Test
	void theInstancesStartWhileThePageIsRead() {
		// Another test may have killed the second one
		browser.await(() -> stateIs(1, "idle"));
		assertThat(browser.findAll(".instance")).hasSizeGreaterThanOrEqualTo(2);
	}

	@Test
	void anInstanceIsPausedAndKilledByItsButtons() {
		open(LONG);
		browser.find("#start").click();
		awaitSale();
		browser.find(".instance:nth-child(1) [data-action=pause]").click();
		browser.await(() -> stateIs(1, "paused"));
		browser.await(() -> browser.text("#message").endsWith(", paused: shop-1"));
		browser.picture("paused", ".instances");
		assertThat(browser.findings()).isEmpty();
		browser.await(() -> stateIs(1, "running"));
		browser.find(".instance:nth-child(2) [data-action=kill]").click();
		browser.await(() -> stateIs(2, "ended"));
		browser.picture("killed", ".instances");
		assertThat(browser.findings()).isEmpty();
		browser.find("#stop").click();
		browser.await(LabBrowserTests::isIdle);
	}

	private static boolean stateIs(int instance, String state) {
		return browser.text(".instance:nth-child(%d) [data-part=state]".formatted(instance)).equals(state);
	}

	@Test
	void aRunIsStoppedAndTheKeyboardGoesOnWhereItWas() {
		open(LONG);
		browser.find("#start").click();
		awaitSale();
		browser.find("#stop").sendKeys(Keys.ENTER);
		browser.await(LabBrowserTests::isIdle);
		assertThat(browser.text(".card [data-part=sentence]")).isEqualTo("stopped");
		assertThat(browser.find("#stop").isDisplayed()).isFalse();
		assertThat(browser.driver().switchTo().activeElement().getAttribute("id")).isEqualTo("run");
	}

	@Test
	void aPageThatIsOpenedLaterShowsTheRunUnderWay() {
		open(LONG);
		browser.find("#start").click();
		awaitSale();
		browser.open(page);
		awaitSale();
		assertThat(texts(".card h3")).startsWith("With our lock\ndistributed-lock", "distributed-lock-fair");
		assertThat(browser.text(".card [data-part=stock]")).isEqualTo("2,000");
		browser.find("#stop").click();
		browser.await(LabBrowserTests::isIdle);
	}

	@Test
	void aBrowserKeepsNoFileOfAnOlderShop() {
		assertThat(browser.driver()
			.executeAsyncScript("fetch('lab.js').then(({ headers }) => arguments[0](headers.get('Cache-Control')))"))
			.isEqualTo("no-store");
	}

	@Test
	void theRunsOfAVisitAreComparedRepeatedAndDownloaded() throws Exception {
		open(CHOSEN.formatted(20));
		browser.find("#start").click();
		awaitEnd(1);
		browser.find("#rows a").click();
		assertThat(browser.driver().switchTo().activeElement().getAttribute("id")).isEqualTo("run");
		assertThat(browser.driver().getCurrentUrl()).isEqualTo(page + CHOSEN.formatted(20));
		browser.press(Keys.ENTER);
		awaitEnd(2);
		for (String measure : List.of("perSecond", "latency", "sold")) {
			browser.script("document.querySelector(arguments[0]).click()", "[value=" + measure + "]");
			browser.picture("chart-" + measure, "#comparison");
		}
		assertThat(browser.find("#chart").getAttribute("aria-label"))
			.isEqualTo("pieces sold: distributed-lock 20; distributed-lock 20");
		assertThat(Files.readString(download("csv", "lab.csv")).lines()).hasSize(3)
			.element(2)
			.asString()
			.startsWith("2,distributed-lock,distributed-lock,right,right,2,20,20,none,true,,");
		assertThat(Files.readString(download("markdown", "lab.md")).lines()).hasSize(4)
			.last()
			.asString()
			.startsWith("| `distributed-lock` | right | 20 | 0 | 0 |");
		// The chart, and a table with two rows and a head beneath it
		BufferedImage picture = ImageIO.read(download("png", "lab.png").toFile());
		assertThat(picture.getHeight()).isEqualTo(browser.find("#chart").getSize().getHeight() + 4 * 24);
		Files.copy(directory.resolve("lab.png"), Path.of("target", "lab", "download.png"),
				StandardCopyOption.REPLACE_EXISTING);
	}

	@Test
	void oneLinkRepeatsTheVisitWhichAReloadDoesNotEnd() {
		open(CHOSEN.formatted(20));
		browser.find("#start").click();
		awaitEnd(1);
		browser.script("location.hash = arguments[0]", CHOSEN.formatted(10).replace("distributed-lock", "none"));
		browser.find("#start").click();
		awaitEnd(2);
		String all = CHOSEN.formatted(20) + "&" + CHOSEN.formatted(10).replace("distributed-lock", "none").substring(1);
		assertThat(browser.find("#repeat").getAttribute("href")).isEqualTo(page + all);
		browser.find("#repeat").click();
		browser.driver().navigate().refresh();
		browser.await(LabBrowserTests::isIdle);
		assertThat(texts("#rows th")).containsExactly("distributed-lock", "none");
		assertThat(browser.text("#message"))
			.isEqualTo("Ready: 2 runs, the first with 2 instances, 20 customers, 20 pieces.");
		assertThat(browser.text("#run")).isEqualTo("Sell 20 pieces with our lock, then sell 10 pieces without a lock");
		browser.find("#run").click();
		awaitEnd(4);
		assertThat(texts("#rows th")).containsExactly("distributed-lock", "none", "distributed-lock", "none");
		assertThat(texts("#rows a")).containsExactly("choose run 1 again", "choose run 2 again", "choose run 3 again",
				"choose run 4 again");
		assertThat(browser.find("#repeat").getAttribute("href")).isEqualTo(page + all);
		browser.find("#forget").click();
		assertThat(browser.find("#comparison").isDisplayed()).isFalse();
		// As the shop tells it again to a page that was loaded in the middle of a run
		for (int i = 0; i < 2; i++) {
			browser.module("comparison.js",
					"m.addResult({ strategy: 'none' }, { id: '1', request: { strategies: ['none'] } })");
		}
		assertThat(texts("#rows a")).containsExactly("choose run 1 again");
	}

	private static Path download(String button, String file) {
		browser.find("#" + button).click();
		browser.await(() -> Files.exists(directory.resolve(file)));
		return directory.resolve(file);
	}

	@Test
	void theKeyboardReachesEverythingAndIsSeen() {
		// Of radio buttons, the keyboard reaches the chosen one
		Object reachable = browser
			.script("""
					return [...document.querySelectorAll("a, button, input:enabled:not([type=radio]), input:checked, [tabindex='0']")]
						.filter((element) => element.checkVisibility()).length""");
		List<Object> reached = new ArrayList<>();
		for (int i = 0; i < ((Number) reachable).intValue(); i++) {
			browser.press(Keys.TAB);
			reached.add(browser.script("return document.activeElement.outerHTML"));
			assertThat((Boolean) browser.script("""
					const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
					return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2""")).as("%s", reached.get(i))
				.isTrue();
		}
		assertThat(reached).doesNotHaveDuplicates().first().asString().contains("run");
		assertThat(reached).last().asString().contains("api/strategies");
	}

	@Test
	void choicesThatCannotBeAreRefusedWithASentence() {
		browser.script("document.querySelectorAll('[name=strategies]:checked').forEach((box) => box.click())");
		browser.find("#start").click();
		assertThat(browser.text("#problem")).isEqualTo("Choose at least one strategy.");
		browser.find("[value=none]").click();
		assertThat(browser.text("#problem")).isEmpty();
		browser.find("#choice-users").sendKeys("000");
		browser.find("#start").click();
		assertThat(browser.text("#problem")).isEqualTo("Customers: choose a number from 1 to 200.");
		assertThat(browser.driver().switchTo().activeElement().getAttribute("id")).isEqualTo("choice-users");
		assertThat(browser.findings()).isEmpty();
		browser.script("document.querySelectorAll('[name=strategies]').forEach((box) => box.click())");
		assertThat(browser.findAll("[name=strategies]:checked")).hasSize(12);
	}

	@Test
	void aLinkChoosesOnlyWhatTheShopOffersAndThePageSaysSo() {
		open("#strategies=redis-lua,<script>,none,none,jpa-open-in-view&instances=99&users=-1&stock=1e3&fault=fire&colour=red");
		assertThat(browser.findAll("[name=strategies]:checked")).extracting((box) -> box.getAttribute("value"))
			.containsExactly("none", "redis-lua");
		assertThat(List.of("instances", "users", "stock"))
			.extracting((name) -> browser.find("#choice-" + name).getAttribute("value"))
			.containsExactly("4", "50", "500");
		assertThat(browser.find("[name=fault]:checked").getAttribute("value")).isEqualTo("none");
		assertThat(browser.find("#link").getAttribute("href"))
			.endsWith("#strategies=none,redis-lua&instances=4&users=50&stock=500&fault=none");
		assertThat(browser.text("#error").split("\n")).containsExactly(
				"This shop does not have the strategy “<script>”: it is left out.",
				"The strategy “jpa-open-in-view” needs the profile jpa, without which this shop was started: it is left out.",
				"instances=“99” is not a number from 1 to 4: 4 is taken instead.",
				"users=“-1” is not a number from 1 to 200: 50 is taken instead.",
				"stock=“1e3” is not a number from 1 to 2000: 500 is taken instead.",
				"This shop does not have the fault “fire”: “none” is taken instead.",
				"This shop cannot choose “colour”: it is left out.");
		assertThat(texts(".choice:has(:disabled) small")).hasSize(6)
			.first()
			.asString()
			.startsWith("Needs the profile stores. ");
		assertThat(browser.text("#profiles-command")).endsWith("spring-boot:run -Dspring-boot.run.profiles=stores,jpa");
		checkLooks("unknown", "footer");
		browser.find("[value=none]").click();
		assertThat(browser.text("#error")).isEmpty();
		assertThat(browser.complaints()).isEmpty();
	}

	@Test
	void textsOfTheShopAreNoMarkup() {
		Object prepared = browser.prepare("""
				const real = fetch;
				window.fetch = async (...request) => {
					const response = await real(...request);
					const text = (await response.text()).replaceAll('"description":"', '"description":"<img src=x>');
					return new Response(text, { status: response.status, headers: response.headers });
				}""");
		try {
			open("");
			assertThat(browser.text(".choice small")).startsWith("<img src=x>");
			assertThat(browser.findAll("main img")).isEmpty();
		}
		finally {
			browser.forget(prepared);
		}
	}

	@Test
	void aLostConnectionIsSaidAndMendsItself() {
		Object prepared = browser.prepare("""
				const real = fetch;
				let streams = 0;
				window.lab = { cut: false };
				window.fetch = (...request) => lab.cut && String(request[0]).endsWith("/events")
					? Promise.reject(new TypeError("offline")) : real(...request).then((response) => {
						const reader = response.body?.getReader();
						return new Response(reader && new ReadableStream({
							async pull(controller) {
								const { value, done } = await reader.read();
								if (lab.cut && String(request[0]).endsWith("/events")) {
									await reader.cancel();
									controller.error(new TypeError("offline"));
								}
								else if (done) {
									controller.close();
								}
								else {
									controller.enqueue(value);
								}
							},
						}), { status: response.status, headers: response.headers });
					})""");
		try {
			open(CHOSEN.formatted(500));
			browser.find("#start").click();
			awaitSale();
			browser.script("lab.cut = true");
			browser.await(() -> browser.text("#error").startsWith("The connection is lost"));
			browser.script("lab.cut = false");
			browser.await(() -> browser.text("#error").isEmpty());
			awaitEnd(1);
			assertThat(number(".card [data-part=sold]")).isEqualTo(500);
			assertThat(browser.find(".card canvas").getAttribute("aria-label")).contains("500 of them sold");
		}
		finally {
			browser.forget(prepared);
		}
	}

	@Test
	void eventsAreReadInAnyPieces() {
		assertThat(browser.module("events.js", "m.parseEvents(values[0])",
				"event:frame\ndata:{}\n\n: comment\n\nevent: end\r\ndata: 1\r\ndata:2\r\n\r\nevent:fra"))
			.isEqualTo(Map.of("events",
					List.of(Map.of("name", "frame", "data", "{}"), Map.of("name", "end", "data", "1\n2")), "rest",
					"event:fra"));
	}

	@Test
	void filesQuoteWhatTheirFormatsNeed() {
		assertThat(browser.module("download.js", """
				m.toCsv([{ run: 1, strategy: values[0], sentence: values[1] }]).split("\\r\\n")""", "a,b",
				"He said \"no\""))
			.asInstanceOf(InstanceOfAssertFactories.list(String.class))
			.hasSize(3)
			.element(1)
			.asString()
			.startsWith("1,\"a,b\",")
			.endsWith(",\"He said \"\"no\"\"\"");
		assertThat(browser.module("download.js", "m.toMarkdown([{ strategy: values[0], verdict: values[1] }])", "a|b",
				"two\nlines"))
			.asString()
			.contains("| `a\\|b` | two lines | 0 |");
		assertThat(browser.module("download.js",
				"""
						m.toMarkdown([{ strategy: "a", verdict: "unfinished", instances: 2, users: 1, stock: 3, fault: "crash", struck: false,
							byHand: values }])""",
				"shop-1 was paused", "shop-2 was killed"))
			.asString()
			.contains("| unfinished |")
			.endsWith("| 2 instances, 1 customer, 3 pieces, a crash (not reached), shop-1 was paused by hand, "
					+ "shop-2 was killed by hand |\n");
		assertThat(browser.module("words.js",
				"m.summary([...values, 'right'].map((verdict) => ({ strategy: verdict, verdict })))", "unfinished",
				"wrong", "unfinished"))
			.isEqualTo("Right: right. Wrong: wrong. Unfinished: unfinished, unfinished.");
	}

	@Test
	void linksAreReadAsTheyAreWritten() {
		Map<String, Object> request = Map.of("strategies", List.of("b", "a"), "instances", 2L, "users", 3L, "stock", 4L,
				"fault", "slow");
		Map<String, Object> info = Map.of("strategies", List.of(Map.of("name", "a"), Map.of("name", "b")), "missing",
				List.of(), "faults", List.of(Map.of("name", "slow")), "limits",
				Map.of("strategies", 2, "instances", 4, "users", 10, "stock", 10), "defaults", Map.of());
		assertThat(browser.module("link.js", "m.fromLink(m.toLink(values[0]), values[1])", request, info))
			.isEqualTo(Map.of("requests", List.of(request), "problems", List.of()));
		// With the same load and fault, they are one run
		assertThat(browser.module("link.js", """
				m.toLink(...m.repeating([["a", 3], ["b", 3], ["a", 3], ["a", 5]].map(([strategy, stock]) =>
					({ strategy, instances: 1, users: 2, stock, fault: "none" }))))"""))
			.isEqualTo("#strategies=a,b&instances=1&users=2&stock=3&fault=none"
					+ "&strategies=a&instances=1&users=2&stock=5&fault=none");
		assertThat(browser.module("link.js",
				"m.fromLink('#strategies=a,b', { ...values[0], limits: { strategies: 1 } }).requests", info))
			.isEqualTo(List.of(Map.of("strategies", List.of("a")), Map.of("strategies", List.of("b"))));
		assertThat(browser.module("link.js", "m.fromLink('#choices', values[0])", info)).isEqualTo("null");
	}

	@Test
	void theGridFitsItsCardAndItsRowsAreFull() {
		assertThat(browser.module("stock.js", "[1, 7, 20, 100, 500, 2000].map((size) => m.columnsFor(size, values[0]))",
				540))
			.isEqualTo(List.of(1L, 4L, 5L, 10L, 25L, 50L));
		assertThat(browser.module("stock.js", "[290, 540, 1180].map((width) => m.columnsFor(values[0], width))", 500))
			.isEqualTo(List.of(25L, 25L, 50L));
	}

}
