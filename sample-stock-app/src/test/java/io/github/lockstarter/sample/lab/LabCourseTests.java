// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.WebElement;

import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.sample.lab.LabBrowser.Look;
import io.github.lockstarter.testsupport.Cases;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The course of docs/lab.md: its links sell as it says. The directory target/lab/course
 * has the pictures for docs/lab.
 */
class LabCourseTests {

	private static final Path COURSE = Path.of("..", "docs", "lab.md");

	private static final Path PICTURES = Path.of("target", "lab", "course");

	/** Sells what the big button sells, for the top of the README. */
	private static final String COMPARISON = "comparison";

	@Test
	void eachStepHasALinkAnOutcomeAndASmallPicture() throws Exception {
		List<Step> steps = steps();
		assertThat(steps).extracting(Step::number).isEqualTo(IntStream.rangeClosed(1, 12).boxed().toList());
		Cases.each(steps, (step) -> {
			assertThat(step.link).startsWith("#strategies=" + String.join(",", step.outcomes.keySet()) + "&");
			assertThat(Files.size(COURSE.resolveSibling(step.picture()))).isLessThanOrEqualTo(60 << 10);
		});
		assertThat(Files.size(COURSE.resolveSibling("lab/" + COMPARISON + ".png"))).isLessThanOrEqualTo(120 << 10);
	}

	@Test
	@FullProfileOnly
	@Tag("clock")
	@EnabledIf(value = "io.github.lockstarter.sample.lab.LabBrowser#isInstalled",
			disabledReason = "Debian's packages chromium and chromium-driver are not installed")
	void eachStepSellsAsItSays(@TempDir Path directory) throws Exception {
		try (ShopProcess shop = ShopProcess.start(directory.resolve("shop")).awaitOpen();
				LabBrowser browser = new LabBrowser(PICTURES, directory)) {
			String page = "http://127.0.0.1:" + shop.port() + "/";
			Cases.each(steps(), (step) -> {
				browser.look(new Look(false, 960, true));
				sell(browser, page + step.link, step.outcomes.size());
				picture(browser, "%02d".formatted(step.number), "main", ".instances");
				List<String> outcomes = texts(browser, "#rows .outcome");
				assertThat(texts(browser, "#rows th")).containsExactlyElementsOf(step.outcomes.keySet());
				assertThat(outcomes).hasSameSizeAs(step.outcomes.values());
				int row = 0;
				for (String expected : step.outcomes.values()) {
					assertThat(outcomes.get(row++)).as("%s", step.link).containsPattern(expected);
				}
			});
			browser.look(new Look(false, 1280, true));
			sell(browser, page, 2);
			picture(browser, COMPARISON, "body", ".stocks");
		}
	}

	private static void sell(LabBrowser browser, String link, int results) {
		browser.open(link);
		browser.await(() -> isIdle(browser));
		browser.find("#run").click();
		browser.await(() -> browser.findAll("#rows tr").size() == results && isIdle(browser));
		browser.script("document.activeElement.blur()");
	}

	private static boolean isIdle(LabBrowser browser) {
		return "false".equals(browser.find("#run").getAttribute("aria-disabled"));
	}

	private static List<String> texts(LabBrowser browser, String selector) {
		return browser.findAll(selector).stream().map(WebElement::getText).toList();
	}

	private static List<Step> steps() throws IOException {
		return Pattern.compile("^## (?=\\d)", Pattern.MULTILINE)
			.splitAsStream(Files.readString(COURSE))
			.skip(1)
			.map(Step::of)
			.toList();
	}

	private static void picture(LabBrowser browser, String name, String start, String end) throws IOException {
		browser.picture(name, start, end);
		Path file = PICTURES.resolve(name + ".png");
		BufferedImage image = withFewColours(ImageIO.read(file.toFile()));
		Files.delete(file);
		ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
		ImageWriteParam small = writer.getDefaultWriteParam();
		small.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
		small.setCompressionQuality(0);
		try (ImageOutputStream out = ImageIO.createImageOutputStream(file.toFile())) {
			writer.setOutput(out);
			writer.write(null, new IIOImage(image, null, null), small);
		}
		finally {
			writer.dispose();
		}
	}

	/** With its 256 most frequent colours, so that a pixel is a byte. */
	private static BufferedImage withFewColours(BufferedImage image) {
		int width = image.getWidth();
		int[] pixels = image.getRGB(0, 0, width, image.getHeight(), null, 0, width);
		int[] palette = IntStream.of(pixels)
			.boxed()
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
			.entrySet()
			.stream()
			.sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
			.limit(256)
			.mapToInt(Map.Entry::getKey)
			.toArray();
		BufferedImage result = new BufferedImage(width, image.getHeight(), BufferedImage.TYPE_BYTE_INDEXED,
				new IndexColorModel(8, palette.length, palette, 0, false, -1, DataBuffer.TYPE_BYTE));
		Map<Integer, Integer> nearest = new HashMap<>();
		for (int i = 0; i < pixels.length; i++) {
			result.getRaster()
				.setSample(i % width, i / width, 0,
						nearest.computeIfAbsent(pixels[i],
								(colour) -> IntStream.range(0, palette.length)
									.boxed()
									.min(Comparator.comparingInt((index) -> distance(palette[index], colour)))
									.orElseThrow()));
		}
		return result;
	}

	private static int distance(int colour, int other) {
		return IntStream.of(0, 8, 16)
			.map((shift) -> (colour >> shift & 0xff) - (other >> shift & 0xff))
			.map((difference) -> difference * difference)
			.sum();
	}

	/**
	 * A section of the page.
	 *
	 * @param outcomes the verdicts by strategy, as regular expressions
	 */
	private record Step(int number, String link, Map<String, String> outcomes) {

		private static final Pattern PARTS = Pattern.compile(
				"(\\d+)\\. .*?\\(http://localhost:8080/(#[^)]+)\\).*?^Outcome: (.+?)\\.$.*?^!\\[.+?]\\((.+?)\\)",
				Pattern.MULTILINE | Pattern.DOTALL);

		static Step of(String section) {
			Matcher parts = PARTS.matcher(section);
			assertThat(parts.find()).as(section).isTrue();
			Map<String, String> outcomes = new LinkedHashMap<>();
			Stream.of(parts.group(3).split(", ")).map((outcome) -> outcome.split("`")).forEach((outcome) -> {
				outcomes.put(outcome[1], outcome[2].strip().replace(" or ", "|"));
				assertThat(outcome[2]).matches(" (right|wrong|right or wrong)");
			});
			Step step = new Step(Integer.parseInt(parts.group(1)), parts.group(2), outcomes);
			assertThat(parts.group(4)).isEqualTo(step.picture());
			return step;
		}

		String picture() {
			return "lab/%02d.png".formatted(this.number);
		}

	}

}
