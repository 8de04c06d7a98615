// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.NoOp;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.interceptor.LockAnnotations;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(CapturedLog.Extension.class)
class SelfInvocationCheckTests {

	@ParameterizedTest
	@ValueSource(classes = { Direct.class, InLambda.class, ByReference.class, InConstructor.class, InSuperclass.class,
			InInterface.class, OtherLock.class, OtherRegistry.class, BySuper.class, Composite.class })
	void aBeanThatCallsItsOwnAnnotatedMethodIsWarnedOf(Class<?> type, CapturedLog log) {
		check(type);
		assertThat(log.toString().split("WARN", -1)).as(log.toString()).hasSize(2);
		assertThat(log).containsPattern("\\." + callerIn(type) + "' calls '.*\\.deduct\\(long\\)' of the same bean")
			.contains("LockTemplate")
			.contains("distributed-lock.advice-mode=aspectj");
	}

	@ParameterizedTest
	@ValueSource(classes = { OtherBean.class, Injected.class, Provided.class, SameLock.class, SameLockInLambda.class,
			Generic.class, Overloaded.class, Overriding.class, LockedInterface.class })
	void anyOtherCallIsNot(Class<?> type, CapturedLog log) {
		check(type);
		assertThat(log).doesNotContain("calls");
	}

	@Test
	void aClassWithoutAClassFileIsPassedOver(CapturedLog log) {
		Enhancer enhancer = new Enhancer();
		enhancer.setSuperclass(OtherBean.class);
		enhancer.setCallback(NoOp.INSTANCE);
		check(enhancer.create().getClass());
		Supplier<String> lambda = () -> "";
		new SelfInvocationCheck().check(lambda.getClass(), List.of());
		new SelfInvocationCheck().check(int[].class, List.of());
		assertThat(log).doesNotContain("WARN");
	}

	@Test
	void twoBeansOfAClassAreWarnedOfOnce(CapturedLog log) {
		SelfInvocationCheck check = new SelfInvocationCheck();
		check.check(Direct.class, locked(Direct.class));
		check.check(Direct.class, locked(Direct.class));
		assertThat(log.toString().split("of the same bean", -1)).hasSize(2);
	}

	private static void check(Class<?> type) {
		new SelfInvocationCheck().check(type, locked(type));
	}

	private static List<Method> locked(Class<?> type) {
		return Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((method) -> !LockAnnotations.find(method, type).isEmpty())
			.toList();
	}

	private static String callerIn(Class<?> type) {
		return (type == InConstructor.class) ? "<init>" : "run";
	}

	static class Direct {

		void run() {
			deduct(1);
		}

		@DistributedLock(key = "#id")
		public void deduct(long id) {
		}

	}

	static class InLambda extends Direct {

		@Override
		void run() {
			LongConsumer consumer = (id) -> deduct(id);
			consumer.accept(1);
		}

	}

	static class ByReference extends Direct {

		@Override
		void run() {
			LongConsumer consumer = this::deduct;
			consumer.accept(1);
		}

	}

	static class InConstructor {

		InConstructor() {
			deduct(1);
		}

		@DistributedLock
		public void deduct(long id) {
		}

	}

	static class InSuperclass extends Direct {

		@Override
		@DistributedLock(name = "of-subclass")
		public void deduct(long id) {
		}

	}

	interface Runner {

		default void run() {
			deduct(1);
		}

		void deduct(long id);

	}

	static class InInterface implements Runner {

		@Override
		@DistributedLock
		public void deduct(long id) {
		}

	}

	static class OtherLock extends Direct {

		@Override
		@DistributedLock(name = "other")
		public void run() {
			deduct(1);
		}

	}

	static class BySuper extends Direct {

		@Override
		void run() {
			super.deduct(1);
		}

	}

	static class Composite extends Direct {

		private final List<Direct> parts = List.of();

		@Override
		void run() {
			deduct(this.parts.size());
		}

	}

	static class OtherBean {

		private final Direct direct = new Direct();

		void run() {
			this.direct.deduct(1);
			LongConsumer consumer = this.direct::deduct;
			consumer.accept(1);
		}

		@DistributedLock(key = "#id")
		public void deduct(long id) {
		}

	}

	static class Injected {

		private Injected self;

		Injected(Injected self) {
			this.self = self;
		}

		void run() {
			this.self.deduct(this.hashCode());
			LongConsumer consumer = this.self::deduct;
			consumer.accept(1);
		}

		@DistributedLock(key = "#id")
		public void deduct(long id) {
		}

	}

	static class Provided {

		private final Supplier<Provided> self;

		Provided(Supplier<Provided> self) {
			this.self = self;
		}

		void run() {
			this.self.get().deduct(1);
		}

		@DistributedLock(key = "#id")
		public void deduct(long id) {
		}

	}

	static class OtherRegistry {

		@DistributedLock(name = "stock", key = "#id")
		public void run(long id) {
			deduct(id);
		}

		@DistributedLock(name = "stock", key = "#id", registry = "jdbcLockRegistry")
		public void deduct(long id) {
		}

	}

	static class SameLock {

		@DistributedLock(name = "stock", key = "#id")
		public void run(long id) {
			deduct(id);
		}

		@DistributedLock(name = "stock", key = "#id")
		public void deduct(long id) {
		}

	}

	static class SameLockInLambda {

		@DistributedLock(name = "stock", key = "#id")
		public void run(long id) {
			LongConsumer consumer = (other) -> deduct(other);
			consumer.accept(id);
		}

		@DistributedLock(name = "stock", key = "#id")
		public void deduct(long id) {
		}

	}

	interface Seller<T> {

		void deduct(T id);

	}

	static class Generic implements Seller<Long> {

		@Override
		@DistributedLock(key = "#id")
		public void deduct(Long id) {
		}

	}

	static class Overloaded {

		void run() {
			deduct("1");
		}

		void deduct(String id) {
		}

		@DistributedLock(key = "#id")
		public void deduct(long id) {
		}

	}

	static class Overriding extends SameLock {

		@Override
		public void deduct(long id) {
			super.deduct(id);
		}

	}

	@DistributedLock(name = "all")
	static class LockedInterface implements Runner {

		@Override
		public void deduct(long id) {
		}

	}

}
