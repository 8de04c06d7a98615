// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class SpringBootVersionCheckTests {

	@ParameterizedTest
	@ValueSource(strings = { "2.7.18", "3.5.8-SNAPSHOT" })
	void olderVersionsAreRefusedWithASentence(String version) {
		assertThatExceptionOfType(UnsupportedSpringBootException.class)
			.isThrownBy(() -> SpringBootVersionCheck.check(version))
			.withMessage("lock-starter requires Spring Boot 4, but this application runs on Spring Boot " + version);
	}

	@ParameterizedTest
	@ValueSource(strings = { "4.0.0", "4.2.0-M1", "30.1.0" })
	void othersAreWelcome(String version) {
		assertThatNoException().isThrownBy(() -> SpringBootVersionCheck.check(version));
	}

	@Test
	void aVersionThatNobodyKnowsIsNoReasonToRefuse() {
		assertThatNoException().isThrownBy(() -> SpringBootVersionCheck.check(null));
	}

	@Test
	void theCheckComesBeforeAllOthersOfOurs() {
		assertThat(SpringFactoriesLoader.loadFactories(ApplicationContextInitializer.class, null))
			.filteredOn((initializer) -> initializer.getClass().getName().startsWith("io.github.lockstarter"))
			.first()
			.isInstanceOf(SpringBootVersionCheck.class);
	}

	@Test
	void theRefusalIsAnalyzed() {
		UnsupportedSpringBootException refusal = new UnsupportedSpringBootException("3.5.7");
		FailureAnalysis analysis = new UnsupportedSpringBootFailureAnalyzer().analyze(refusal);
		assertThat(analysis).isNotNull();
		assertThat(analysis.getAction()).contains("Spring Boot 4.0 or newer");
	}

}
