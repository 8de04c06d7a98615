// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

/**
 * The files that a publication needs besides code.
 */
class PublicationTests {

	private static final Path ROOT = Path.of("..");

	/** SHA-256 of the text that the Apache Software Foundation publishes. */
	private static final String APACHE_LICENSE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30";

	@Test
	void theLicenseIsTheVerbatimText() throws Exception {
		byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(ROOT.resolve("LICENSE")));
		assertThat(HexFormat.of().formatHex(digest)).isEqualTo(APACHE_LICENSE);
	}

	@Test
	void theLicenseAndTheNoticeAreInEachJar() throws Exception {
		assertThat(published()).allSatisfy((module) -> {
			Path jar = ROOT.resolve(module).resolve(Path.of("target", "classes", "META-INF"));
			assertThat(jar.resolve("LICENSE")).hasSameBinaryContentAs(ROOT.resolve("LICENSE"));
			assertThat(jar.resolve("NOTICE")).hasSameBinaryContentAs(ROOT.resolve("NOTICE"));
		});
	}

	@Test
	void eachJarHasTheNameOfItsModule() throws Exception {
		assertThat(published())
			.allSatisfy((module) -> assertThat(contentOf(ROOT.resolve(module).resolve("pom.xml").toFile()))
				.contains("<module.name>io.github.lockstarter." + module.substring("lock-".length()).replace('-', '.')
						+ "</module.name>"));
	}

	@Test
	void theVersionsOfAllPublishedModulesCanBeImported() throws Exception {
		String bom = Files.readString(ROOT.resolve("lock-bom/pom.xml"));
		assertThat(published()).contains("lock-starter", "lock-autoconfigure");
		assertThat(Pattern.compile("<dependency>.*?<artifactId>([^<]+)</artifactId>", Pattern.DOTALL)
			.matcher(bom)
			.results()
			.map((dependency) -> dependency.group(1))).containsExactlyInAnyOrderElementsOf(published());
	}

	@Test
	void noPackageIsSplitBetweenJars() throws Exception {
		List<String> packages = new ArrayList<>();
		for (String module : published()) {
			Path classes = ROOT.resolve(module).resolve(Path.of("target", "classes"));
			try (Stream<Path> files = Files.walk(classes)) {
				files.filter((file) -> file.toString().endsWith(".class"))
					.map((file) -> classes.relativize(file.getParent()).toString())
					.distinct()
					.forEach(packages::add);
			}
		}
		assertThat(packages).contains("io/github/lockstarter").doesNotHaveDuplicates();
	}

	private static List<String> published() throws IOException {
		return Pattern.compile("<module>([^<]+)</module>")
			.matcher(Files.readString(ROOT.resolve("pom.xml")))
			.results()
			.map((module) -> module.group(1))
			.filter((module) -> !module.equals("lock-bom") && isPublished(module))
			.toList();
	}

	private static boolean isPublished(String module) {
		return !contentOf(ROOT.resolve(module).resolve("pom.xml").toFile())
			.contains("<maven.deploy.skip>true</maven.deploy.skip>");
	}

}
