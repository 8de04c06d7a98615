// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import kotlin.Pair;
import kotlin.UInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.Cases;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockKeyTests {

	private static final int RANDOM_KEYS = 100_000;

	/**
	 * Characters with a meaning in the text of a lock, in Redis, in logs or in encodings.
	 */
	private static final String HOSTILE = "{}:%+ \n\r\t\0\\\"'/;,#$.-_*?[]\u0007\u001B\u007F\u0085\u00A0\u00AD\u200B\u202E\u2028\uFEFFäß語\u0301";

	@Test
	void theTextIsReadableAndOneLine() {
		Cases.rows("""
				1001 | stock:1001
				a:b | stock:a:b
				a+b c | stock:a+b c
				{x} | stock:%7Bx%7D
				100% | stock:100%25
				%7B | stock:%257B
				ключ | stock:ключ
				""", (key, text) -> {
			LockKey lock = LockKey.of("stock", key);
			assertThat(lock.text()).isEqualTo(text);
			assertThat(lock).hasToString(text);
		});
		assertThat(LockKey.of("stock", "a\nb").text()).isEqualTo("stock:a%0Ab");
		assertThat(LockKey.of("stock", "a\nb")).hasToString("stock:a%0Ab");
	}

	@Test
	void withoutAKeyItIsTheLockOfTheName() {
		assertThat(LockKey.of("stock").text()).isEqualTo("stock");
		assertThat(LockKey.of("stock")).isNotEqualTo(LockKey.of("stock", "stock"));
	}

	@Test
	void theKeyIsTheTextOfTheValue() {
		assertThat(LockKey.of("stock", 1001L)).isEqualTo(LockKey.of("stock", "1001"));
	}

	@Test
	void differentLocksNeverShareATextWhateverTheirKeysHold() {
		Random random = new Random(42);
		Map<String, LockKey> byText = new HashMap<>();
		for (int i = 0; i < RANDOM_KEYS; i++) {
			LockKey lock = accepted(random.nextBoolean() ? "stock" : "st.ock", randomKey(random));
			if (lock == null) {
				continue;
			}
			String text = lock.text();
			LockKey same = byText.put(text, lock);
			assertThat(same == null || same.equals(lock)).as(text).isTrue();
			assertThat(text).doesNotContainPattern("[\\p{Cntrl}{}\u2028]");
		}
		assertThat(byText).hasSizeGreaterThan(RANDOM_KEYS / 2);
	}

	@Test
	void theEncodedCharactersAreTheSameInEveryJdk() {
		StringBuilder encoded = new StringBuilder();
		for (int first = 0; first <= Character.MAX_CODE_POINT; first++) {
			int last = first;
			while (last <= Character.MAX_CODE_POINT && isEncoded(last)) {
				last++;
			}
			if (last > first) {
				encoded.append(String.format("%X-%X ", first, last - 1));
				first = last;
			}
		}
		// Independent of the JDK's version of Unicode: two instances must agree on a text
		assertThat(encoded.toString().trim())
			.isEqualTo("0-1F 25-25 7B-7B 7D-7D 7F-9F AD-AD 600-605 61C-61C 6DD-6DD 70F-70F 890-891"
					+ " 8E2-8E2 180E-180E 200B-200F 2028-202E 2060-2064 2066-206F FEFF-FEFF FFF9-FFFB"
					+ " 110BD-110BD 110CD-110CD 13430-1343F 1BCA0-1BCA3 1D173-1D17A E0001-E0001 E0020-E007F");
	}

	@Test
	void aFormatCharacterThatOnlyNewerJdksKnowIsEncoded() {
		assertThat(LockKey.of("stock", "a\u0890").text()).isEqualTo("stock:a%E0%A2%90");
	}

	private static boolean isEncoded(int codePoint) {
		boolean surrogate = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
		return !surrogate && LockKey.of("stock", "a" + Character.toString(codePoint)).text().contains("%");
	}

	@Test
	void aBlankKeyIsRefused() {
		Cases.each(List.of("", " ", "\t\n", "\u2003"),
				(key) -> assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", key))
					.withMessage("'key' of the lock 'stock' must not be blank; leave it out for one lock per name"));
	}

	@Test
	@SuppressWarnings("NullAway")
	void aNullKeyIsNotTheTextNull() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", (Object) null))
			.withMessage("'key' of the lock 'stock' must not be null; leave it out for one lock per name");
	}

	@Test
	void aKeyWithoutATextOfItsOwnIsRefusedBecauseEachJvmSeesAnotherOne() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", new Object()))
			.withMessageContaining("is a java.lang.Object, whose text is different in each JVM");
	}

	@Test
	void aKeyOfSeveralValuesIsRefusedBecauseItExcludesNoneOfTheirOwners() {
		Cases.each(List.of(List.of(1L, 2L), Set.of(1L), Map.of(1L, 2), new int[] { 1 }), (several) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("stock", several))
				.withMessage("'key' of the lock 'stock' is a " + several.getClass().getTypeName()
						+ ", which has several values; for the locks of all of them, request each of them");
		});
	}

	@Test
	void theTextOfAValueIsTheSameInEachJvm() {
		Instant instant = Instant.parse("2026-03-29T01:30:00.123456789Z");
		Cases.pairs(List.of(entry(new StringBuilder("a"), "a"), entry('c', "c"), entry(true, "true"),
				entry(1_000_000, "1000000"), entry(new BigInteger("-7"), "-7"), entry(new BigDecimal("10.00"), "10"),
				entry(new BigDecimal("1E+1"), "10"), entry(new BigDecimal("0.50"), "0.5"),
				entry(new BigDecimal("1E+1000000000"), "1E+1000000000"), entry(Size.LARGE, "LARGE"),
				entry(Size.SMALL, "SMALL"), entry(new UUID(1, 2), "00000000-0000-0001-0000-000000000002"),
				entry(new Date(instant.toEpochMilli()), "2026-03-29T01:30:00.123Z"),
				entry(Timestamp.from(instant), "2026-03-29T01:30:00.123456789Z"),
				entry(new Timestamp(0), "1970-01-01T00:00:00Z"), entry(instant, instant.toString()),
				entry(LocalDate.of(2026, 3, 29), "2026-03-29"), entry(Optional.of(Size.LARGE), "LARGE"),
				entry(OptionalInt.of(7), "7"), entry(OptionalLong.of(7), "7"),
				entry(new Point(1, 2), "Point[x=1, y=2]"),
				entry(new Shelf(null, Size.SMALL), "Shelf[id=null, content=SMALL]"),
				entry(new Shelf("a", new Shelf("b", Size.LARGE)), "Shelf[id=a, content=Shelf[id=b, content=LARGE]]"),
				entry(new Shelf("a", Optional.of(new Date(0))), "Shelf[id=a, content=1970-01-01T00:00:00Z]"),
				entry(new Shelf("a", Optional.empty()), "Shelf[id=a, content=null]"),
				entry(new Shelf("a", List.of(Size.LARGE, List.of(1, 2))), "Shelf[id=a, content=[LARGE, [1, 2]]]"),
				entry(new Shelf("a", Map.entry("b", Size.LARGE)), "Shelf[id=a, content=b=LARGE]"),
				entry(Optional.of(new Shelf("a", Size.SMALL)), "Shelf[id=a, content=SMALL]"),
				entry(new Sku(new Object()), "SKU"), entry(new Data("a", 7), "Data(id=a, content=7)"),
				entry(new Data("a", new BigDecimal("1.0")), "Data(id=a, content=1.0)")), (key, text) -> {
					TimeZone zone = TimeZone.getDefault();
					Locale locale = Locale.getDefault();
					try {
						TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
						Locale.setDefault(Locale.forLanguageTag("ar-EG"));
						assertThat(LockKey.of("stock", key).key()).isEqualTo(text);
					}
					finally {
						TimeZone.setDefault(zone);
						Locale.setDefault(locale);
					}
				});
	}

	@Test
	void aValueWithoutSuchATextIsRefusedWithARemedy() {
		Cases.pairs(List.of(entry(new java.sql.Date(0), "its toLocalDate()"),
				entry(new java.sql.Time(0), "its toLocalTime()"), entry(new GregorianCalendar(), "its toInstant()"),
				entry(new byte[] { 1 }, "one, such as HexFormat.of().formatHex(key)"),
				entry(new char[] { 'a' }, "String.valueOf(key)"), entry(1.5, "a BigDecimal or an integral number"),
				entry(1.5F, "a BigDecimal or an integral number"),
				entry(OptionalDouble.of(1), "a BigDecimal or an integral number"),
				entry(InetAddress.getLoopbackAddress(), "its address, such as getHostAddress()"),
				entry(new InetSocketAddress(InetAddress.getLoopbackAddress(), 80),
						"its address, such as getHostAddress()"),
				entry(TimeZone.getTimeZone("UTC"), "its getID()"),
				entry(CompletableFuture.completedFuture("a"), "the value")), (key, remedy) -> {
					assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", key))
						.withMessageStartingWith(
								"'key' of the lock 'stock' is a " + key.getClass().getTypeName() + ", wh")
						.withMessageEndingWith("; use " + remedy);
				});
	}

	@Test
	void aValueWithAPartThatHasNoSuchTextIsRefusedWithARemedy() {
		Runnable lambda = () -> {
		};
		Cases.pairs(List.of(entry(new Object(), "a value of it"), entry(lambda, "a value of it"),
				entry(new int[] { 1 }, "a List"), entry(new String[] { "a" }, "a List"),
				entry(Set.of("a", "b"), "a List"), entry(new ArrayDeque<>(List.of(1)), "a List"),
				entry(Map.of(1, 2), "a List"), entry(new GregorianCalendar(), "its toInstant()"),
				entry(1.5, "a BigDecimal")), (part, remedy) -> {
					for (Object key : List.of(new Shelf("a", part), new Shelf("a", new Shelf("b", part)),
							Optional.of(new Shelf("a", part)), new Shelf("a", Optional.of(part)),
							new Shelf("a", List.of(1, part)), Map.entry("a", part), new Data("a", part),
							new Shelf("a", new Data("b", part)))) {
						assertThatIllegalArgumentException().as(key.toString())
							.isThrownBy(() -> LockKey.of("stock", key))
							.withMessageStartingWith("'key' of the lock 'stock' is a ")
							.withMessageContaining(" is a " + part.getClass().getTypeName() + ", ")
							.withMessageContaining("; use " + remedy);
					}
				});
	}

	@Test
	void aTextThatContainsAnotherOneThanThatOfThePartIsRefused() {
		Cases.each(List.of(Size.SMALL, new Date(0), new Shelf("a", Size.LARGE), List.of(Size.SMALL)), (part) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", new Data("a", part)))
				.withMessageContaining("is a " + part.getClass().getTypeName()
						+ ", whose toString() may differ in each JVM;" + " use a text of your own");
		});
	}

	/** Kotlin passes the value inside, unless the type is nullable or a type argument. */
	@Test
	void aValueClassOfKotlinIsTheValueInside() {
		Object count = valueClass(UInt.class, int.class, -1);
		Cases.pairs(
				List.of(entry(count, "-1"), entry(Optional.of(count), "-1"),
						entry(valueClass(kotlin.Result.class, Object.class, "a"), "a"),
						entry(new Shelf("a", count), "Shelf[id=a, content=-1]"),
						entry(new Pair<>("a", count), "(a, 4294967295)")),
				(key, text) -> assertThat(LockKey.of("stock", key).key()).isEqualTo(text));
		for (Object unstable : List.of(new Date(0), new Object(), 1.5)) {
			Object value = valueClass(kotlin.Result.class, Object.class, unstable);
			assertThat(accepts(value)).as("%s inside", unstable).isEqualTo(accepts(unstable));
			assertThat(accepts(new Pair<>("a", value))).as("%s as a part", unstable).isFalse();
		}
	}

	private static boolean accepts(Object key) {
		try {
			LockKey.of("stock", key);
			return true;
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	/** As Kotlin makes an object of it, on the class path of Lincheck. */
	private static Object valueClass(Class<?> type, Class<?> inside, Object value) {
		try {
			return type.getMethod("box-impl", inside).invoke(null, value);
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void anEmptyOptionalIsNoKey() {
		Cases.each(List.of(Optional.empty(), OptionalInt.empty(), OptionalLong.empty()), (key) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", key))
				.withMessage("'key' of the lock 'stock' must not be null; leave it out for one lock per name");
		});
	}

	@Test
	void aPathIsOneValue() {
		assertThat(LockKey.of("file", Path.of("a", "b"))).hasToString("file:" + Path.of("a", "b"));
	}

	@Test
	void aKeyThatIsTooLongIsRefused() {
		assertThat(LockKey.of("stock", "x".repeat(512)).key()).hasSize(512);
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", "x".repeat(513)))
			.withMessageContaining("must not be longer than 512 characters, but has 513");
	}

	@Test
	void halfACharacterIsRefusedBecauseAllOfThemBecomeTheSameBytes() {
		Cases.each(List.of("a\uD800", "\uDC00a", "\uDC00\uD800"),
				(key) -> assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("stock", key))
					.withMessageContaining("must be well-formed Unicode"));
	}

	@Test
	void aNameIsALabel() {
		Cases.each(List.of("", " ", "a b", "a:b", "{a}", "lösch", "a\n", "a/b"),
				(name) -> assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of(name))
					.withMessageContaining("'name' must be 1 to 128 of the characters A-Z, a-z, 0-9"));
	}

	@Test
	void aNameThatIsNoLabelIsQuotedAsItWasWritten() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("#{id} 100%\n"))
			.withMessageEndingWith("but was '#{id} 100%%0A'");
	}

	@Test
	void aNameHasALimit() {
		assertThat(LockKey.of("x".repeat(128)).name()).hasSize(128);
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.of("x".repeat(129)));
	}

	private static @Nullable LockKey accepted(String name, String key) {
		try {
			return LockKey.of(name, key);
		}
		catch (IllegalArgumentException ex) {
			assertThat(ex).hasMessageStartingWith("'key' of the lock '" + name + "' must ");
			return null;
		}
	}

	private static String randomKey(Random random) {
		int length = (random.nextInt(500) == 0) ? 505 + random.nextInt(15) : random.nextInt(8);
		StringBuilder key = new StringBuilder();
		while (key.length() < length) {
			switch (random.nextInt(4)) {
				case 0 -> key.append((char) random.nextInt(Character.MAX_VALUE + 1));
				case 1 -> key.appendCodePoint(random.nextInt(Character.MAX_CODE_POINT + 1));
				case 2 -> key.append("%7").append("BDbd".charAt(random.nextInt(4)));
				default -> key.append(HOSTILE.charAt(random.nextInt(HOSTILE.length())));
			}
		}
		return key.toString();
	}

	/** Its text would depend on the language of the JVM. */
	enum Size {

		SMALL,

		LARGE {
			@Override
			public String toString() {
				return String.format("%d", 2);
			}
		};

		@Override
		public String toString() {
			return String.format("%d", 1);
		}

	}

	record Point(int x, int y) {
	}

	record Shelf(@Nullable String id, Object content) {
	}

	record Sku(Object content) {

		@Override
		public String toString() {
			return "SKU";
		}

	}

	/** What Kotlin's compiler makes of a data class. */
	@SuppressWarnings("unused")
	private static final class Data {

		private final String id;

		private final Object content;

		Data(String id, Object content) {
			this.id = id;
			this.content = content;
		}

		public String component1() {
			return this.id;
		}

		public Object component2() {
			return this.content;
		}

		@Override
		public String toString() {
			return "Data(id=" + this.id + ", content=" + this.content + ")";
		}

	}

}
