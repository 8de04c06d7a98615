// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;

import org.junit.jupiter.api.Test;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockException;

import static org.assertj.core.api.Assertions.assertThat;

class LockedMethodRuntimeHintsTests {

	@Test
	void fallbacksAreInNativeImagesWithAndWithoutTheReason() throws Exception {
		RuntimeHints hints = hintsOf(Stock.class);
		assertThat(hints).matches(invocation(Stock.class, "instead", long.class))
			.matches(invocation(Stock.class, "instead", long.class, LockException.class))
			.matches(invocation(Parent.class, "inherited", long.class))
			.matches(invocation(Stock.class, "deduct", long.class))
			.doesNotMatch(invocation(Stock.class, "unrelated", long.class));
	}

	@Test
	void aFallbackThatAnInterfaceNamesIsThatOfTheBean() throws Exception {
		assertThat(hintsOf(OfInterface.class)).matches(invocation(OfInterface.class, "instead"));
	}

	@Test
	void aFallbackThatAPropertyNamesMayBeAnyMethod() throws Exception {
		assertThat(hintsOf(OfProperty.class)).matches(invocation(OfProperty.class, "one"))
			.matches(invocation(OfProperty.class, "other"));
	}

	@Test
	void aBeanWithoutFallbackNeedsNothing() throws Exception {
		assertThat(hintsOf(Unrelated.class)).doesNotMatch(invocation(Unrelated.class, "instead"));
	}

	@Test
	void thePartsOfArgumentsOfWhichAKeyIsMadeAreInNativeImages() throws Exception {
		assertThat(hintsOf(Orders.class)).matches(invocation(Order.class, "tenant"))
			.matches(invocation(Order.class, "customer"))
			.matches(invocation(Customer.class, "getId"))
			.matches(invocation(Item.class, "id"))
			.matches(RuntimeHintsPredicates.reflection().onType(UUID.class));
	}

	@Test
	void argumentsThatAKeyDoesNotReadNeedNothing() throws Exception {
		assertThat(hintsOf(Orders.class)).doesNotMatch(invocation(Unused.class, "text"));
		assertThat(hintsOf(ByPosition.class)).matches(invocation(Item.class, "id"))
			.doesNotMatch(invocation(Unused.class, "text"));
		assertThat(hintsOf(AllArguments.class)).matches(invocation(Item.class, "id"));
		assertThat(hintsOf(KeyOfProperty.class)).matches(invocation(Item.class, "id"));
	}

	@Test
	void argumentsOfMethodsWithoutAKeyNeedNothing() throws Exception {
		assertThat(hintsOf(WithoutKey.class)).doesNotMatch(invocation(Item.class, "id"));
	}

	private static RuntimeHints hintsOf(Class<?> bean) {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean(bean);
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get("com.example", "Shop")), new InMemoryGeneratedFiles());
		new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		return generation.getRuntimeHints();
	}

	private static Predicate<RuntimeHints> invocation(Class<?> type, String name, Class<?>... parameters)
			throws Exception {
		return RuntimeHintsPredicates.reflection().onMethodInvocation(type.getDeclaredMethod(name, parameters));
	}

	static class Parent {

		void inherited(long id) {
		}

	}

	static class Stock extends Parent {

		@DistributedLock(fallback = "instead")
		public void deduct(long id) {
		}

		@DistributedLock(fallback = "inherited")
		public void find(long id) {
		}

		private void instead(long id) {
		}

		private void instead(long id, LockException reason) {
		}

		void unrelated(long id) {
		}

	}

	interface Job {

		@DistributedLock(fallback = "instead")
		void run();

	}

	static class OfInterface implements Job {

		@Override
		public void run() {
		}

		void instead() {
		}

	}

	static class OfProperty {

		@DistributedLock(fallback = "${shop.fallback}")
		public void run() {
		}

		void one() {
		}

		void other() {
		}

	}

	record Order(String tenant, Customer customer) {
	}

	interface Customer {

		UUID getId();

	}

	record Item(long id) {
	}

	static class Orders {

		@DistributedLock(name = "order", key = "#order.customer.id")
		public void place(Order order, Unused unused) {
		}

		@DistributedLock(name = "item", key = "#items")
		public void reserve(List<Item> items) {
		}

	}

	record Unused(String text) {
	}

	static class ByPosition {

		@DistributedLock(name = "item", key = "#p1.id")
		public void reserve(Unused unused, Item item) {
		}

	}

	static class AllArguments {

		@DistributedLock(name = "item", key = "#root.args[0].id")
		public void reserve(Item item) {
		}

		@DistributedLock(name = "item", key = "#")
		public void noExpression(Item item) {
		}

	}

	static class KeyOfProperty {

		@DistributedLock(name = "item", key = "${shop.key}")
		public void reserve(Item item) {
		}

	}

	static class WithoutKey {

		@DistributedLock
		public void reserve(Item item) {
		}

		public void find(Item item) {
		}

	}

	static class Unrelated {

		public void run() {
		}

		void instead() {
		}

	}

}
