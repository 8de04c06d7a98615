// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockKeyExpressionTests {

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final Shop target = new Shop("north");

	@Test
	void theKeyIsTheValueOfTheExpression() {
		this.beanFactory.registerSingleton("regions", Map.of("north", "eu"));
		Cases.rows("""
				#order.id | 7
				#p0.id | 7
				#a0.id | 7
				#root.args[0].id | 7
				#root.method.name | buy
				#root.target.region | north
				#order.id + '-' + #count | 7-2
				'all' | all
				@regions.get('north') | eu
				#count > 1 ? 'many' : 'one' | many
				""", (expression, key) -> {
			assertThat(evaluate(expression, new Order(7L), 2)).isEqualTo(LockKey.of("stock", key));
		});
	}

	@Test
	void valuesWithATextOfTheirOwnAreKeys() {
		Cases.each(List.of("text", 'c', 42L, true, UUID.randomUUID(), Thread.State.BLOCKED), (id) -> {
			assertThat(evaluate("#order.id", new Order(id), 1)).isEqualTo(LockKey.of("stock", id));
		});
	}

	@Test
	void anOptionalStandsForItsValue() {
		assertThat(evaluate("#order.id", new Order(Optional.of(7)), 1)).isEqualTo(LockKey.of("stock", 7));
	}

	@Test
	void aCollectionAnArrayAndAStreamStandForAllTheirElements() {
		Cases.each(List.of(List.of(2, 1), new long[] { 2, 1 }, new String[] { "2", "1" }, Stream.of(2L, 1L),
				IntStream.of(2, 1), Optional.of(List.of("2", "1"))), (ids) -> {
					LockKeyExpression.Keys keys = expression("#order.id").evaluate("stock", this.target,
							new Object[] { new Order(ids), 1 });
					assertThat(keys.all()).containsExactly(LockKey.of("stock", 2), LockKey.of("stock", 1));
					assertThat(keys.several()).isTrue();
				});
	}

	@Test
	void aCollectionWithASingleElementStandsForASetAsWell() {
		assertThat(expression("#order.id").evaluate("stock", this.target, new Object[] { new Order(List.of(2)), 1 }))
			.isEqualTo(new LockKeyExpression.Keys(List.of(LockKey.of("stock", 2)), true));
	}

	@Test
	void anUnusableValueIsRefusedWithMethodAndExpression() {
		Cases.each(Arrays.asList(null, Optional.empty(), "", "  ", "x".repeat(513), List.of(), new int[0], Stream.of(),
				Arrays.asList(1, null), List.of(List.of()), Map.of(1, 2), new Object(), "\uD800", new byte[] { 1, 2 },
				new char[] { 'a', 'b' }, 1.5, new Order(Set.of(1, 2))), (id) -> {
					assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.id", new Order(id), 1))
						.withMessageContaining("Shop.buy(Order, int)'")
						.withMessageContaining("'#order.id'")
						.withMessageEndingWith("nothing was executed");
				});
	}

	@Test
	void aValueWithinATextHasTheTextThatItHasAsAKey() {
		for (Object id : List.of(7, new BigDecimal("7.0"), new Date(0), Optional.of(7), Unit.PIECE,
				new Order(Unit.PIECE))) {
			String text = LockKey.of("stock", id).key();
			assertThat(evaluate("'id ' + #order.id", new Order(id), 1).key()).isEqualTo("id " + text);
			assertThat(evaluate("#order.id + '-' + #count", new Order(id), 1).key()).isEqualTo(text + "-1");
		}
		assertThat(evaluate("'a' + #order.id + 'b'", new Order(' '), 1).key()).isEqualTo("a b");
	}

	/** SpEL itself writes null, which is also a text. */
	@Test
	void aTextWithAPartThatIsNullIsRefused() {
		Cases.each(List.of("#order.id + ':' + #count", "'id ' + #order.id", "('a' + #order.id) + 'b'",
				"#count > 0 ? #order.id + ':1' : 'none'", "#order.none() ?: #order.id + ':1'",
				"{#order.id + ':1', 'b'}", "(#order.id + ':1').toLowerCase()", "'a'.concat(#order.id + ':1')",
				"{1}.![#order.id + ':' + #this]", "{a: 1}[#order.id + ':1']"), (expression) -> {
					assertThatIllegalArgumentException()
						.isThrownBy(() -> expression(expression).evaluate("stock", this.target,
								new Object[] { new Order(null), 1 }))
						.withMessageContaining("its part #order.id is null: check the argument before the call")
						.withMessageEndingWith("nothing was executed");
				});
	}

	@Test
	void aPartThatHasATextInsteadOfNullIsNotRefused() {
		assertThat(evaluate("(#order.id ?: 'none') + ':' + #count", new Order(null), 1).key()).isEqualTo("none:1");
		assertThat(evaluate("#order.id == null ? 'none' : 'id ' + #order.id", new Order(null), 1).key())
			.isEqualTo("none");
		assertThat(evaluate("#order.id + ':' + #count", new Order("null"), 1).key()).isEqualTo("null:1");
	}

	@Test
	void anUnusableKeyIsRefusedWithWhatToDoInstead() {
		Map<Order, String> remedies = Map.of(new Order(null), "#id ?: 'none'", new Order(Map.of(1, 2)), "add .keySet()",
				new Order(List.of()), "skip the call if there are no elements", new Order(List.of(List.of())),
				"whose elements are single values");
		remedies.forEach((order, remedy) -> assertThatIllegalArgumentException()
			.isThrownBy(() -> evaluate("#order.id", order, 1))
			.withMessageContaining(remedy)
			.withMessageEndingWith("; nothing was executed"));
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.idd", new Order(1), 1))
			.withMessageContaining("'idd'")
			.withMessageEndingWith(
					"; correct the expression, or pass arguments for which it has a value; nothing was executed");
	}

	@Test
	void aTextWithAValueThatHasNoneIsRefusedWithMethodAndExpression() {
		Cases.each(List.of(new Object(), new int[] { 1 }, Set.of(1, 2), 1.5, new GregorianCalendar(), Optional.empty(),
				new Order(new Object())), (id) -> {
					for (String expression : List.of("'id ' + #order.id", "#order.id + '-' + #count")) {
						assertThatIllegalArgumentException().isThrownBy(() -> evaluate(expression, new Order(id), 1))
							.withMessageContaining("Shop.buy(Order, int)'")
							.withMessageContaining(expression)
							.withMessageContaining("'key' of the lock 'stock' ")
							.withMessageEndingWith("nothing was executed");
					}
				});
	}

	@Test
	void anExpressionThatFailsIsRefusedWithMethodAndExpression() {
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.price", new Order(1), 1))
			.withMessageContaining("Shop.buy(Order, int)'")
			.withMessageContaining("'#order.price'")
			.withMessageContaining("price")
			.withMessageEndingWith("nothing was executed");
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.id", null, 1))
			.withMessageContaining("could not be evaluated");
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("@missing.id", new Order(1), 1))
			.withMessageContaining("missing");
	}

	@Test
	void referencesThatNoCallCanResolveAreKnownBeforeTheFirst() {
		assertThat(expression("#order.id + #count + #p1 + #a0 + #root.args + args[0] + {1}.![#this + length]")
			.unknownReferences()).isEmpty();
		assertThat(expression("#oder.id + {1}.![#p2] + #format(1)").unknownReferences()).containsExactly("#oder", "#p2",
				"#format(1)");
		assertThat(expression("order.id + '-' + count").unknownReferences()).containsExactly("order", "count");
	}

	private LockKey evaluate(String expression, @Nullable Object... arguments) {
		LockKeyExpression.Keys keys = expression(expression).evaluate("stock", this.target, arguments);
		assertThat(keys.several()).isFalse();
		assertThat(keys.all()).hasSize(1);
		return keys.all().get(0);
	}

	private LockKeyExpression expression(String expression) {
		Method buy = Arrays.stream(Shop.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("buy"))
			.findFirst()
			.orElseThrow();
		return new LockKeyExpression(expression, buy, new BeanFactoryResolver(this.beanFactory));
	}

	enum Unit {

		PIECE;

		@Override
		public String toString() {
			return "a piece";
		}

	}

	record Order(@Nullable Object id) {

		@SuppressWarnings("unused")
		public @Nullable Object none() {
			return null;
		}

	}

	record Shop(String region) {

		@SuppressWarnings("unused")
		void buy(Order order, int count) {
		}

	}

}
