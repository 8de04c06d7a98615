// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

/**
 * What a publication needs beside code.
 */
class PublicationTests {

	private static final Path ROOT = Path.of("..");

	private static final Path JAR = Path.of("target", "classes", "META-INF");

	/** SHA-256 of the text as the Apache Software Foundation publishes it. */
	private static final String APACHE_LICENSE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30";

	@Test
	void theLicenseIsTheVerbatimTextAndInTheJar() throws Exception {
		byte[] license = Files.readAllBytes(ROOT.resolve("LICENSE"));
		byte[] digest = MessageDigest.getInstance("SHA-256").digest(license);
		assertThat(HexFormat.of().formatHex(digest)).isEqualTo(APACHE_LICENSE);
		assertThat(JAR.resolve("LICENSE")).hasBinaryContent(license);
	}

	@Test
	void theNoticeIsInTheJar() {
		assertThat(JAR.resolve("NOTICE")).hasSameBinaryContentAs(ROOT.resolve("NOTICE"));
	}

	@Test
	void theVersionsOfAllPublishedModulesCanBeImported() throws Exception {
		String bom = Files.readString(ROOT.resolve("lock-bom/pom.xml"));
		List<String> published = Pattern.compile("<module>([^<]+)</module>")
			.matcher(Files.readString(ROOT.resolve("pom.xml")))
			.results()
			.map((module) -> module.group(1))
			.filter((module) -> !module.equals("lock-bom") && isPublished(module))
			.toList();
		assertThat(published).contains("lock-starter", "lock-autoconfigure");
		assertThat(Pattern.compile("<dependency>.*?<artifactId>([^<]+)</artifactId>", Pattern.DOTALL)
			.matcher(bom)
			.results()
			.map((dependency) -> dependency.group(1))).containsExactlyInAnyOrderElementsOf(published);
	}

	private static boolean isPublished(String module) {
		return !contentOf(ROOT.resolve(module).resolve("pom.xml").toFile())
			.contains("<maven.deploy.skip>true</maven.deploy.skip>");
	}

}
