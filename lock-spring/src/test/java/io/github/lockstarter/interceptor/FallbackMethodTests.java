// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FallbackMethodTests {

	private final LockDefinitionSource source = new LockDefinitionSource(new DefaultListableBeanFactory());

	@Test
	void theFallbackThatTakesTheReasonWithTheNearestTypeIsPreferred() {
		Cases.rows("""
				plain | instead(long)
				contended | insteadContended(long, LockContendedException)
				any | insteadAny(long, Throwable)
				both | insteadBoth(long, RuntimeException)
				several | insteadSeveral(long, LockContendedException)
				severalOnOutage | insteadSeveral(long, LockException)
				alreadyException | insteadException(Exception)
				alreadyExceptionAndReason | insteadReason(Exception, LockException)
				""", (method, fallback) -> {
			FallbackMethod found = find(Valid.class, method);
			assertThat(InvalidLockDefinitionException.label(found.method()))
				.isEqualTo(Valid.class.getName() + "." + fallback);
			assertThat(found.takesReason()).isEqualTo(found.method().getParameterCount() == 2);
		});
	}

	@Test
	void genericParametersAreThoseOfTheClassOfTheBean() {
		assertThat(InvalidLockDefinitionException.label(find(OfGeneric.class, "run").method()))
			.isEqualTo(OfGeneric.class.getName() + ".instead(String, LockException)");
		assertThat(find(OfGenericReason.class, "run").method().getDeclaringClass()).isEqualTo(GenericReason.class);
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(OfWrongGenericReason.class, "run"))
			.withMessageContaining("does not accept every exception");
	}

	@Test
	void aFallbackThatCannotBeCalledIsRefused() {
		Cases.rows(
				"""
						onlyContention | instead(long, LockContendedException)' does not accept every exception that leads to it: LockContendedException, LockUnavailableException; declare its last parameter as LockException
						onlyOutage | insteadOfOutage(long, LockUnavailableException)' does not accept every exception that leads to it: LockContendedException, LockUnavailableException
						loss | insteadOfLoss(long, LockLostException)' does not accept every exception that leads to it: LockContendedException
						unlikely | insteadOrElse(long, IllegalStateException)' does not accept every exception
						noException | insteadOfText(long, String)' returning void does not have the same parameters
						anything | insteadOfAnything(long, Object)' returning void does not have the same parameters
						reasonFirst | insteadOfFirst(LockException, long)' returning void does not have the same parameters
						wrongReturnType | insteadReturning(long, LockException)' returning int does not have
						""",
				(method, problem) -> assertThatExceptionOfType(InvalidLockDefinitionException.class)
					.isThrownBy(() -> find(Invalid.class, method))
					.withMessageStartingWith(
							"Invalid @DistributedLock on '" + Invalid.class.getName() + "." + method + "(")
					.withMessageContaining(problem)
					.satisfies((ex) -> assertThat(ex.getAction())
						.contains("one more parameter, which receives the" + " LockException")));
	}

	@Test
	void aReactionWithoutItsFallbackIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(Invalid.class, "noFallback"))
			.withMessageContaining("onUnavailable = FALLBACK needs a fallback")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("Name a fallback method with 'fallback'"));
	}

	private FallbackMethod find(Class<?> type, String name) {
		Method method = Arrays.stream(type.getMethods())
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.findFirst()
			.orElseThrow();
		LockOperation definition = this.source.parse(method, type);
		assertThat(definition).isNotNull();
		FallbackMethod fallback = definition.onFailure().fallback();
		assertThat(fallback).isNotNull();
		return fallback;
	}

	abstract static class Valid {

		@DistributedLock(fallback = "instead")
		public abstract void plain(long id);

		void instead(long id) {
		}

		@DistributedLock(fallback = "insteadContended")
		public abstract void contended(long id);

		void insteadContended(long id, LockContendedException reason) {
		}

		@DistributedLock(fallback = "insteadAny", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void any(long id);

		void insteadAny(long id, Throwable reason) {
		}

		@DistributedLock(fallback = "insteadBoth", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void both(long id);

		void insteadBoth(long id) {
		}

		void insteadBoth(long id, RuntimeException reason) {
		}

		@DistributedLock(fallback = "insteadSeveral")
		public abstract void several(long id);

		@DistributedLock(fallback = "insteadSeveral", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void severalOnOutage(long id);

		void insteadSeveral(long id, Exception reason) {
		}

		void insteadSeveral(long id, LockContendedException reason) {
		}

		void insteadSeveral(long id, LockException reason) {
		}

		@DistributedLock(fallback = "insteadException")
		public abstract void alreadyException(Exception argument);

		void insteadException(Exception argument) {
		}

		@DistributedLock(fallback = "insteadReason")
		public abstract void alreadyExceptionAndReason(Exception argument);

		void insteadReason(Exception argument, LockException reason) {
		}

	}

	abstract static class Generic<T> {

		@DistributedLock(fallback = "instead")
		public void run(T argument) {
		}

	}

	static class OfGeneric extends Generic<String> {

		void instead(String argument, LockException reason) {
		}

	}

	abstract static class GenericReason<T, X extends Throwable> {

		@DistributedLock(fallback = "instead")
		public void run(T argument) {
		}

		void instead(T argument, X reason) {
		}

	}

	static class OfGenericReason extends GenericReason<String, LockException> {

	}

	static class OfWrongGenericReason extends GenericReason<String, LockLostException> {

	}

	abstract static class Invalid {

		@DistributedLock(fallback = "instead", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void onlyContention(long id);

		void instead(long id, LockContendedException reason) {
		}

		@DistributedLock(fallback = "insteadOfOutage", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void onlyOutage(long id);

		void insteadOfOutage(long id, LockUnavailableException reason) {
		}

		@DistributedLock(fallback = "insteadOfLoss")
		public abstract void loss(long id);

		void insteadOfLoss(long id, LockLostException reason) {
		}

		@DistributedLock(fallback = "insteadOrElse")
		public abstract void unlikely(long id);

		void insteadOrElse(long id) {
		}

		void insteadOrElse(long id, IllegalStateException reason) {
		}

		@DistributedLock(fallback = "insteadOfText")
		public abstract void noException(long id);

		void insteadOfText(long id, String text) {
		}

		@DistributedLock(fallback = "insteadOfAnything")
		public abstract void anything(long id);

		void insteadOfAnything(long id, Object reason) {
		}

		@DistributedLock(fallback = "insteadOfFirst")
		public abstract void reasonFirst(long id);

		void insteadOfFirst(LockException reason, long id) {
		}

		@DistributedLock(fallback = "insteadReturning")
		public abstract void wrongReturnType(long id);

		int insteadReturning(long id, LockException reason) {
			return 0;
		}

		@DistributedLock(fallback = "", onUnavailable = OnUnavailable.FALLBACK)
		public abstract void noFallback(long id);

	}

}
