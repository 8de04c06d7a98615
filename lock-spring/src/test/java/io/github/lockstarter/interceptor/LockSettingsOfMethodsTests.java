// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotated methods whose lock names have settings.
 */
class LockSettingsOfMethodsTests {

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final LockDefinitionSource source = new LockDefinitionSource(this.beanFactory);

	LockSettingsOfMethodsTests() {
		LockSettings.ForName lenient = ofName(null, OnContention.SKIP, OnUnavailable.FALLBACK, OnLost.LOG);
		LockSettings.ForName skipping = ofName(null, OnContention.SKIP, OnUnavailable.DEFAULT, OnLost.DEFAULT);
		this.beanFactory.registerSingleton("settings", new LockSettings(Map.of("lenient", lenient, "skipping", skipping,
				"there", ofName(Duration.ofSeconds(1), OnContention.DEFAULT, OnUnavailable.DEFAULT, OnLost.DEFAULT))));
	}

	private static LockSettings.ForName ofName(@Nullable Duration waitTime, OnContention onContention,
			OnUnavailable onUnavailable, OnLost onLost) {
		return new LockSettings.ForName(waitTime, null, null, null, onContention, onUnavailable, onLost);
	}

	@Test
	void theReactionsOfTheNameApplyWhereTheAnnotationLeavesThemOpen() {
		LockOperation definition = definition("open");
		assertThat(definition.onFailure().onContention()).isEqualTo(OnContention.SKIP);
		assertThat(definition.onFailure().onUnavailable()).isEqualTo(OnUnavailable.FALLBACK);
		assertThat(definition.onLost()).isEqualTo(OnLost.DEFAULT);
	}

	@Test
	void theReactionsOfTheAnnotationComeFirstEvenIfTheyAreTheDefaults() {
		LockOperation definition = definition("said");
		assertThat(definition.onFailure().onContention()).isEqualTo(OnContention.THROW);
		assertThat(definition.onFailure().onUnavailable()).isEqualTo(OnUnavailable.THROW);
		assertThat(definition.onLost()).isEqualTo(OnLost.THROW);
	}

	@Test
	void severalNamesAgreeOnAReactionOrTheStricterOneCounts() {
		assertThat(definition("agreeing").onFailure().onContention()).isEqualTo(OnContention.SKIP);
		assertThat(definition("disagreeing").onFailure().onContention()).isEqualTo(OnContention.THROW);
		assertThat(definition("saidByOne").onFailure().onContention()).isEqualTo(OnContention.THROW);
	}

	@Test
	void aReactionOfTheNameThatDoesNotFitTheMethodIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class).isThrownBy(() -> definition("primitive"))
			.withMessageContaining("Methods.primitive()': onContention = SKIP, from the settings of 'skipping', has no"
					+ " empty result of type int. Return an object type");
		assertThatExceptionOfType(InvalidLockDefinitionException.class).isThrownBy(() -> definition("noFallback"))
			.withMessageContaining("Methods.noFallback()': onUnavailable = FALLBACK, from the settings of 'lenient',"
					+ " needs a fallback. Name a fallback method");
	}

	@Test
	void timesOfTheNameAreLeftToTheRegistry() {
		assertThat(definition("there").locks()).singleElement()
			.satisfies((lock) -> assertThat(lock.request().waitTime()).isNull());
	}

	private LockOperation definition(String name) {
		Method method = Arrays.stream(Methods.class.getDeclaredMethods())
			.filter((each) -> each.getName().equals(name))
			.findFirst()
			.orElseThrow();
		LockOperation definition = this.source.parse(method, Methods.class);
		assertThat(definition).isNotNull();
		return definition;
	}

	static class Methods {

		@DistributedLock(name = "lenient", fallback = "instead")
		void open() {
		}

		@DistributedLock(name = "lenient", fallback = "instead", onContention = OnContention.THROW,
				onUnavailable = OnUnavailable.THROW, onLost = OnLost.THROW)
		void said() {
		}

		@DistributedLock(name = "lenient", fallback = "instead")
		@DistributedLock(name = "skipping", fallback = "instead")
		void agreeing() {
		}

		@DistributedLock(name = "skipping")
		@DistributedLock(name = "other")
		void disagreeing() {
		}

		@DistributedLock(name = "skipping", onContention = OnContention.THROW)
		@DistributedLock(name = "skipping", key = "'a'")
		void saidByOne() {
		}

		@DistributedLock(name = "skipping")
		int primitive() {
			return 0;
		}

		@DistributedLock(name = "lenient")
		void noFallback() {
		}

		@DistributedLock(name = "there")
		void there() {
		}

		void instead() {
		}

	}

}
