// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;

import org.awaitility.Awaitility;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import org.springframework.core.io.ClassPathResource;

/**
 * A Chromium without a window, as Debian's packages chromium and chromium-driver install
 * it.
 */
final class LabBrowser implements AutoCloseable {

	private static final Path CHROMIUM = Path.of("/usr/bin/chromium");

	private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

	private final ChromeDriver driver;

	private final Path pictures;

	/**
	 * @param pictures directory for screenshots
	 */
	LabBrowser(Path pictures, Path downloads) {
		this.pictures = pictures;
		ChromeOptions options = new ChromeOptions();
		options.setBinary(CHROMIUM.toFile());
		options.addArguments("--headless=new", "--disable-dev-shm-usage", "--hide-scrollbars");
		if ("root".equals(System.getProperty("user.name"))) {
			options.addArguments("--no-sandbox");
		}
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.WARNING);
		options.setCapability("goog:loggingPrefs", logs);
		this.driver = new ChromeDriver(
				new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).usingAnyFreePort().build(),
				options);
		this.driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(1));
		this.driver.executeCdpCommand("Browser.setDownloadBehavior",
				Map.of("behavior", "allow", "downloadPath", downloads.toAbsolutePath().toString()));
	}

	static boolean isInstalled() {
		return Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER);
	}

	ChromeDriver driver() {
		return this.driver;
	}

	/**
	 * Open a page for a new visit, even if only the part of its address after the "#"
	 * differs from that of the current one.
	 */
	void open(String address) {
		// Which only the page that it belongs to may do
		script("if (location.protocol === 'http:') sessionStorage.clear()");
		this.driver.get("about:blank");
		this.driver.get(address);
	}

	/**
	 * Run a script in the page before its own ones.
	 * @return what {@link #forget} takes
	 */
	Object prepare(String script) {
		return this.driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script))
			.get("identifier");
	}

	void forget(Object prepared) {
		this.driver.executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", prepared));
	}

	/**
	 * Show the page as somebody with these preferences sees it.
	 */
	void look(Look look) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(feature("prefers-color-scheme", look.dark() ? "dark" : "light"),
						feature("prefers-reduced-motion", look.calm() ? "reduce" : "no-preference"))));
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride", Map.of("width", look.width(), "height",
				(look.width() < 600) ? 740 : 900, "deviceScaleFactor", 1, "mobile", false));
		// Two frames later, observers of the size have painted
		this.driver.executeAsyncScript(
				"const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))");
	}

	private static Map<String, String> feature(String name, String value) {
		return Map.of("name", name, "value", value);
	}

	void picture(String name, String end) {
		picture(name, "body", end);
	}

	/**
	 * Write a picture of the page.
	 * @param start selects the first element that it shows
	 * @param end selects the last one
	 */
	void picture(String name, String start, String end) {
		long top = Math.max(0, edge(start, "top") - 16);
		Map<String, Object> clip = Map.of("x", 0, "y", top, "width", script("return innerWidth"), "height",
				edge(end, "bottom") + 16 - top, "scale", 1);
		Object data = this.driver
			.executeCdpCommand("Page.captureScreenshot", Map.of("captureBeyondViewport", true, "clip", clip))
			.get("data");
		write(name, Base64.getDecoder().decode((String) data));
	}

	/**
	 * Write a picture of what is in the window.
	 */
	void screen(String name) {
		write(name, this.driver.getScreenshotAs(OutputType.BYTES));
	}

	private void write(String name, byte[] picture) {
		try {
			Files.createDirectories(this.pictures);
			Files.write(this.pictures.resolve(name + ".png"), picture);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private long edge(String selector, String side) {
		return ((Number) script("return Math.ceil(document.querySelector(arguments[0]).getBoundingClientRect()"
				+ "[arguments[1]] + scrollY)", selector, side))
			.longValue();
	}

	/**
	 * Return what axe says against the page, or cannot decide, and whether it is wider
	 * than the window.
	 */
	@SuppressWarnings("unchecked")
	List<String> findings() {
		try {
			this.driver.executeScript(new ClassPathResource("axe.min.js").getContentAsString(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		List<String> findings = new ArrayList<>((List<String>) this.driver.executeAsyncScript("""
				const done = arguments[0];
				axe.run().then(({ violations, incomplete }) => done([...violations, ...incomplete].flatMap((rule) =>
					rule.nodes.map((node) => `${rule.id}: ${node.target}: ${node.failureSummary}`))))
				"""));
		if ((Boolean) script("return document.documentElement.scrollWidth > innerWidth")) {
			findings.add("The page is wider than the window");
		}
		return findings;
	}

	/**
	 * Return the warnings and errors since the last call.
	 */
	List<String> complaints() {
		return this.driver.manage().logs().get(LogType.BROWSER).getAll().stream().map(Object::toString).toList();
	}

	Object script(String script, Object... arguments) {
		Object value = this.driver.executeScript(script, arguments);
		return (value != null) ? value : "";
	}

	/**
	 * Import a module of the page.
	 * @param expression of the module {@code m} and the {@code values}
	 */
	Object module(String module, String expression, Object... values) {
		Object value = this.driver.executeAsyncScript("""
				const [module, values, done] = arguments;
				import(module).then((m) => done(%s)).catch((error) => done(String(error)))
				""".formatted(expression), "/" + module, List.of(values));
		return (value != null) ? value : "null";
	}

	WebElement find(String selector) {
		return this.driver.findElement(By.cssSelector(selector));
	}

	List<WebElement> findAll(String selector) {
		return this.driver.findElements(By.cssSelector(selector));
	}

	/**
	 * Return the text of an element, or nothing where it does not exist or has been
	 * replaced.
	 */
	String text(String selector) {
		return (String) script("return document.querySelector(arguments[0])?.textContent.trim() ?? ''", selector);
	}

	/**
	 * Press a key wherever the focus is.
	 */
	void press(CharSequence key) {
		new Actions(this.driver).sendKeys(key).perform();
	}

	/**
	 * Wait for what happens on the page in the end.
	 */
	void await(BooleanSupplier condition) {
		Awaitility.await().atMost(Duration.ofMinutes(3)).until(condition::getAsBoolean);
	}

	@Override
	public void close() {
		this.driver.quit();
	}

	record Look(boolean dark, int width, boolean calm) {

		static final List<Look> ALL = List.of(new Look(false, 1280, false), new Look(true, 1280, true),
				new Look(false, 360, true), new Look(true, 360, false));

		@Override
		public String toString() {
			return (dark() ? "dark-" : "light-") + width();
		}

	}

}
