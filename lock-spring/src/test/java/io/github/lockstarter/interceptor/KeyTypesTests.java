// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Each expression is also evaluated: the check must report exactly the expressions that
 * fail in a call.
 */
class KeyTypesTests {

	private static final Item BOOK = new SpecialItem("book");

	private static final Order ORDER = new Order(7, BOOK, List.of(BOOK), new Item[] { BOOK }, Optional.of(BOOK),
			Map.of("first", BOOK), BOOK, Color.RED);

	@Test
	void whatACallCanEvaluateIsNotRefused() {
		assertThat(List.of("#order.id", "#order?.id", "#order.id()", "#p0.item.name", "#a0.item?.name.length",
				"#order.item.visible", "#order.item.isVisible()", "#order.item.shelf", "#order.item.sold",
				"#order.class.name", "#order.items.![name]", "#order.items[0].name", "#order.items.?[visible].size()",
				"#order.itemArray.length", "#order.itemArray[0].name", "#order.gift?.name", "#order.gift.present",
				"#order.gift.get().name", "#order.byName[first].name", "#order.byName['first'].name",
				"#order.byName.size()", "#order.color.name", "#order.color.ordinal()", "#order.anything.name",
				"#order.anything.special", "#id.toString()", "#id.class.name", "#text.bytes.length", "#text.length()",
				"#text.empty ? 'none' : #text", "#numbers.![#this + 1]", "#numbers[0].intValue()",
				"#order.items.![#root.args[1] + name]", "#order.items.![name.concat(#text)]", "#root.method.name",
				"#root.args.length", "#root.args[0].item.special", "args[0].id", "target.region",
				"{#order.id, #order.item.name}", "{id: #order.id}['id']", "new String(#text.bytes).length()",
				"T(java.lang.Math).abs(#id)", "#type.name", "#type.MAX_VALUE", "#order.item.name ?: 'none'",
				"#order.id + '-' + #order.item.name", "!#order.item.visible", "#price.special", "#sealed.special",
				"#abstraction.special", "#map.special ?: 'x'", "#generic.special", "#wild[0].special",
				"#order.item.self().name"))
			.allSatisfy((expression) -> {
				LockKeyExpression key = expression(expression);
				assertThat(key.missingMembers()).isEmpty();
				if (!expression.contains("#map")) {
					assertThat(key.evaluate("stock", new Shop<>(), arguments()).all()).isNotEmpty();
				}
			});
	}

	@Test
	void whatNoCallCanEvaluateIsRefused() {
		assertThat(List.of( //
				"#order.idd | Order has no property 'idd'; it has id, item, items, itemArray, gift, byName,"
						+ " anything, color",
				"#p0?.idd | Order has no property 'idd'", //
				"#order.item.nmae | Item has no property 'nmae'; it has name, visible, shelf",
				"#order.item?.nmae | Item has no property 'nmae'", "#order.item.secret | Item has no property 'secret'", //
				"#order.getId() | Order has no public method 'getId'",
				"#order.item.self().nmae | Item has no property 'nmae'",
				"#order.items.![nmae] | Item has no property 'nmae'",
				"#order.items[0].nmae | Item has no property 'nmae'",
				"#order.items.?[nmae == 'book'] | Item has no property 'nmae'",
				"#order.itemArray[0].nmae | Item has no property 'nmae'",
				"#order.itemArray.size | Item[] has no property 'size'; it has length",
				"#order.gift.name | Optional has no property 'name'; it has empty, present",
				"#order.gift?.nmae | Item has no property 'nmae'", //
				"#order.color.nmae | Color has no property 'nmae'", //
				"#id.value | Long has no property 'value'; it has none", //
				"#text.size | String has no property 'size'", //
				"#text + #order.idd | Order has no property 'idd'", //
				"#id > 0 ? #order.idd : 1 | Order has no property 'idd'", //
				"#text.concat(#order.idd) | Order has no property 'idd'", //
				"#text.concat(idd) | #root has no property 'idd'; it has method, target, args",
				"{#order.idd} | Order has no property 'idd'", //
				"{a: #order.idd} | Order has no property 'idd'",
				"#root.targt | #root has no property 'targt'; it has method, target, args",
				"{1, 2}.![#order.idd] | Order has no property 'idd'"))
			.allSatisfy((row) -> {
				String[] columns = row.split(" \\| ");
				LockKeyExpression key = expression(columns[0]);
				assertThat(key.missingMembers()).first().asString().startsWith(columns[1]);
				assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate("stock", new Shop<>(), arguments()))
					.withMessageContaining("nothing was executed");
			});
	}

	private static @Nullable Object[] arguments() {
		return new @Nullable Object[] { ORDER, 5L, "text", List.of(1, 2), Integer.class, BOOK, BOOK, BOOK, Map.of(),
				BOOK, List.of(BOOK) };
	}

	private static LockKeyExpression expression(String expression) {
		Method buy = Arrays.stream(Shop.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("buy"))
			.findFirst()
			.orElseThrow();
		return new LockKeyExpression(expression, buy, new BeanFactoryResolver(new DefaultListableBeanFactory()));
	}

	static class Shop<T extends Thing> {

		public String getRegion() {
			return "north";
		}

		void buy(Order order, long id, String text, List<Integer> numbers, Class<?> type, Priced price, Thing sealed,
				Abstraction abstraction, HashMap<String, Integer> map, T generic, List<? extends Item> wild) {
		}

	}

	record Order(long id, Item item, List<Item> items, Item[] itemArray, Optional<Item> gift, Map<String, Item> byName,
			Object anything, Color color) {
	}

	enum Color {

		RED

	}

	interface Priced {

	}

	sealed interface Thing permits Abstraction {

	}

	abstract static non-sealed class Abstraction implements Thing, Priced {

	}

	static class Item extends Abstraction {

		public String shelf = "A1";

		@SuppressWarnings("unused")
		private String secret = "secret";

		private final String name;

		Item(String name) {
			this.name = name;
		}

		public String getName() {
			return this.name;
		}

		public boolean isVisible() {
			return true;
		}

		public int sold() {
			return 0;
		}

		public Item self() {
			return this;
		}

	}

	static class SpecialItem extends Item {

		SpecialItem(String name) {
			super(name);
		}

		public String getSpecial() {
			return "special";
		}

	}

}
