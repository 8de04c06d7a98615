// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What can be told of the page without a browser; {@code LabBrowserTests} open it in one.
 */
class LabPageTests {

	@Test
	void everyFileThatThePageLoadsIsHere() throws IOException {
		List<String> files = find("<(?:script|link|img)\\b[^>]* (?:src|href)=\"([^\"]+)\"", read("static/index.html"));
		assertThat(files).anySatisfy((file) -> assertThat(file).startsWith("webjars/chart.js/"))
			.allSatisfy((file) -> assertThat(Stream.of("static/", "META-INF/resources/")
				.anyMatch((folder) -> new ClassPathResource(folder + file).exists())).isTrue());
	}

	@Test
	void everyModuleThatAModuleImportsIsHere() throws IOException {
		assertThat(new PathMatchingResourcePatternResolver().getResources("classpath:static/*.js")).allSatisfy(
				(module) -> assertThat(find("from \"\\./([^\"]+)\"", module.getContentAsString(StandardCharsets.UTF_8)))
					.allSatisfy((imported) -> assertThat(module.createRelative(imported).exists()).isTrue()));
	}

	@Test
	void itHasNothingInlineThatItsPolicyForbids() throws IOException {
		assertThat(read("static/index.html")).doesNotContain("<script>", "<style", " style=", " onclick=");
	}

	@Test
	void everyFamilyOfStrategiesHasATitle() throws IOException {
		String choices = read("static/choices.js");
		assertThat(find("\"family\": \"([^\"]+)\"", read("strategies.json"))).isNotEmpty()
			.allSatisfy((family) -> assertThat(choices).containsPattern("\\b" + family + "\"?: \""));
	}

	private static List<String> find(String pattern, String text) {
		return Pattern.compile(pattern).matcher(text).results().map((MatchResult match) -> match.group(1)).toList();
	}

	private static String read(String resource) throws IOException {
		return new ClassPathResource(resource).getContentAsString(StandardCharsets.UTF_8);
	}

}
