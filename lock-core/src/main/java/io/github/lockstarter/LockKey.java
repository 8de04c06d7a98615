// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.Serializable;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TimeZone;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The identity of one lock: the name of what is guarded and a key within that name. Two
 * different pairs are always two different locks, whatever characters the key contains.
 *
 * @param name a static label of low cardinality, such as {@code stock}: letters, digits,
 * {@code .}, {@code _}, {@code -}, {@code $} and {@code #}
 * @param key the key within the name, such as {@code 1001}; {@code null} for the single
 * lock of a name that has no keys
 */
public record LockKey(String name, @Nullable String key) implements Serializable {

	/**
	 * Maximum length of a name, in characters.
	 */
	public static final int MAX_NAME_LENGTH = 128;

	/**
	 * Maximum length of a key, in characters.
	 */
	public static final int MAX_KEY_LENGTH = 512;

	/**
	 * Characters that are invisible and therefore encoded: control and format characters,
	 * line and paragraph separators. Each range begins at one number and ends before the
	 * next. The tables of the JDK change with each version of Unicode; the text of a key
	 * must not.
	 */
	private static final int[] INVISIBLE = { 0x7F, 0xA0, 0xAD, 0xAE, 0x600, 0x606, 0x61C, 0x61D, 0x6DD, 0x6DE, 0x70F,
			0x710, 0x890, 0x892, 0x8E2, 0x8E3, 0x180E, 0x180F, 0x200B, 0x2010, 0x2028, 0x202F, 0x2060, 0x2065, 0x2066,
			0x2070, 0xFEFF, 0xFF00, 0xFFF9, 0xFFFC, 0x110BD, 0x110BE, 0x110CD, 0x110CE, 0x13430, 0x13440, 0x1BCA0,
			0x1BCA4, 0x1D173, 0x1D17B, 0xE0001, 0xE0002, 0xE0020, 0xE0080 };

	private static final ClassValue<String> OBJECTION = new ClassValue<>() {

		@Override
		protected String computeValue(Class<?> type) {
			return objection(type);
		}

	};

	/**
	 * The methods that return the parts of a record or of a data class of Kotlin, or the
	 * value inside a value class.
	 */
	private static final ClassValue<List<Method>> PARTS = new ClassValue<>() {

		@Override
		protected List<Method> computeValue(Class<?> type) {
			return parts(type);
		}

	};

	public LockKey {
		checkName(name);
		if (key != null) {
			checkKey(name, key);
		}
	}

	/**
	 * Return the single lock of a name that has no keys.
	 * @param name the name of what is guarded
	 * @throws IllegalArgumentException if the name is not valid
	 */
	public static LockKey of(String name) {
		return new LockKey(name, null);
	}

	/**
	 * Return the lock of a key within a name. The text of the key is the same in each
	 * JVM, whatever its time zone, language and version:
	 * <ul>
	 * <li>an enum constant has its {@link Enum#name() name}</li>
	 * <li>a {@link BigDecimal} is written out without trailing zeros, so that equal
	 * numbers are one lock</li>
	 * <li>a {@link Date} or timestamp has its instant in ISO form, with all fractions of
	 * the second</li>
	 * <li>an {@code Optional}, and a value class of Kotlin, has the text of its
	 * value</li>
	 * <li>a record without a {@code toString()} of its own has the texts of its
	 * components, each of which has such a text or is a list of such values</li>
	 * <li>any other value has the text of its {@code toString()}, for example a text, an
	 * integral number, a {@code UUID} or a value of {@code java.time}</li>
	 * </ul>
	 * @param name the name of what is guarded
	 * @param key the key, a single value. For several locks, request each of them
	 * @throws IllegalArgumentException if the name is not valid, or the key is
	 * {@code null}, an empty {@code Optional}, a collection, a map, an array, a
	 * {@code float} or {@code double}, a {@link Calendar}, a {@code java.sql.Date} or
	 * {@code Time}, an {@link InetAddress} or {@link SocketAddress}, a {@link TimeZone},
	 * or a {@link Future}; has no {@code toString()} of its own; is a record or a data
	 * class of Kotlin whose text contains that of such a value, a set, a map or an array;
	 * or its text is blank, longer than {@value #MAX_KEY_LENGTH} characters or not
	 * well-formed Unicode
	 */
	public static LockKey of(String name, Object key) {
		return new LockKey(name, textOf(name, key));
	}

	private static String textOf(String name, @Nullable Object key) {
		String text;
		try {
			text = textOf(key);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("'key' of the lock '" + name + "' " + ex.getMessage(), ex.getCause());
		}
		if (text == null) {
			throw new IllegalArgumentException(
					"'key' of the lock '" + name + "' must not be null; leave it out for one lock per name");
		}
		return text;
	}

	/**
	 * Return the text of a value, or {@code null} if there is no value.
	 * @throws IllegalArgumentException with a message that continues a sentence, if the
	 * text may be another one in another JVM
	 */
	private static @Nullable String textOf(@Nullable Object value) {
		if (value == null || value instanceof String || value instanceof Long) {
			return (value != null) ? value.toString() : null;
		}
		if (value instanceof Optional<?> optional) {
			return textOf(optional.orElse(null));
		}
		if (value instanceof OptionalLong optional) {
			return optional.isPresent() ? Long.toString(optional.getAsLong()) : null;
		}
		if (value instanceof OptionalInt optional) {
			return optional.isPresent() ? Integer.toString(optional.getAsInt()) : null;
		}
		List<Method> parts = PARTS.get(value.getClass());
		if (isValueClass(parts)) {
			return textOf(partOf(value, parts.get(0)));
		}
		String objection = OBJECTION.get(value.getClass());
		if (!objection.isEmpty()) {
			throw objection(value, objection);
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Date date) {
			return date.toInstant().toString();
		}
		if (value instanceof BigDecimal number) {
			BigDecimal shortest = number.stripTrailingZeros();
			// A number of a few bytes can have a billion zeros
			return (Math.abs(shortest.scale()) <= MAX_KEY_LENGTH) ? shortest.toPlainString() : shortest.toString();
		}
		if (value instanceof Map.Entry<?, ?> entry) {
			return textOfPart(value, entry.getKey()) + '=' + textOfPart(value, entry.getValue());
		}
		return parts.isEmpty() ? value.toString() : textOf(value, parts);
	}

	private static String textOf(Object value, List<Method> parts) {
		String text = value.toString();
		if (value instanceof Record) {
			// A toString() of its own is the text that the application has chosen
			return text.equals(record(value, parts, String::valueOf))
					? record(value, parts, (part) -> textOfPart(value, part)) : text;
		}
		for (Method each : parts) {
			Object part = inside(partOf(value, each));
			String contained = String.valueOf(part);
			if (part != null && text.contains(contained) && !(part instanceof BigDecimal)
					&& !contained.equals(textOfPart(value, part))) {
				throw objection(value, "whose part is a " + part.getClass().getTypeName()
						+ ", whose toString() may differ in each JVM; use a text of your own");
			}
		}
		return text;
	}

	/**
	 * Return the value inside a value class: Kotlin passes it instead, except where the
	 * type is nullable or a type argument.
	 */
	private static @Nullable Object inside(@Nullable Object value) {
		List<Method> parts = (value != null) ? PARTS.get(value.getClass()) : List.of();
		return (value != null && isValueClass(parts)) ? inside(partOf(value, parts.get(0))) : value;
	}

	private static boolean isValueClass(List<Method> parts) {
		return !parts.isEmpty() && parts.get(0).getName().equals("unbox-impl");
	}

	private static String record(Object value, List<Method> parts, Function<@Nullable Object, String> text) {
		return parts.stream()
			.map((each) -> each.getName() + '=' + text.apply(partOf(value, each)))
			.collect(Collectors.joining(", ", value.getClass().getSimpleName() + '[', "]"));
	}

	private static String textOfPart(Object whole, @Nullable Object part) {
		if (part instanceof Optional<?> optional) {
			return textOfPart(whole, optional.orElse(null));
		}
		if (part instanceof List<?> list) {
			return list.stream().map((each) -> textOfPart(whole, each)).collect(Collectors.joining(", ", "[", "]"));
		}
		try {
			if (part instanceof Collection || part instanceof Map || (part != null && part.getClass().isArray())) {
				throw objection(part, "whose text is not the same in each JVM; use a List");
			}
			return String.valueOf(textOf(part));
		}
		catch (IllegalArgumentException ex) {
			throw objection(whole, "whose part " + ex.getMessage());
		}
	}

	private static @Nullable Object partOf(Object value, Method part) {
		try {
			return part.invoke(value);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalArgumentException("is a " + value.getClass().getTypeName()
					+ ", whose parts cannot be read; use a text of your own, such as its toString()", ex);
		}
	}

	private static List<Method> parts(Class<?> type) {
		Stream<Method> parts = type.isRecord()
				? Arrays.stream(type.getRecordComponents()).map(RecordComponent::getAccessor)
				: Arrays.stream(type.getDeclaredMethods())
					.filter((method) -> method.getParameterCount() == 0
							&& method.getName().matches("unbox-impl|component\\d+([$-].*)?"));
		// What stays inaccessible is refused at the call
		return parts.peek(Method::trySetAccessible).toList();
	}

	private static IllegalArgumentException objection(Object value, String objection) {
		return new IllegalArgumentException("is a " + value.getClass().getTypeName() + ", " + objection);
	}

	/**
	 * Return the one-line text under which this lock is stored and logged: {@code name}
	 * or {@code name:key}. Control and format characters, <code>%</code>, <code>{</code>
	 * and <code>}</code> of the key are percent-encoded as UTF-8, and all other
	 * characters are kept. Different locks have different texts.
	 */
	public String text() {
		return (this.key != null) ? this.name + ':' + encode(this.key, LockKey::standsForItself) : this.name;
	}

	/**
	 * Return a text of any origin for a line of a log: control and format characters are
	 * percent-encoded as in the {@linkplain #text() text} of a lock, and all other
	 * characters are kept.
	 */
	public static String inOneLine(String text) {
		return encode(text, (codePoint) -> standsForItself(codePoint) || "%{}".indexOf(codePoint) >= 0);
	}

	/**
	 * Return the {@linkplain #text() text}.
	 */
	@Override
	public String toString() {
		return text();
	}

	/** What is wrong with a type and what to use instead; empty if nothing is. */
	private static String objection(Class<?> type) {
		if (type == byte[].class) {
			return "which has no text of its own; use one, such as HexFormat.of().formatHex(key)";
		}
		if (type == char[].class) {
			return "which has no text of its own; use String.valueOf(key)";
		}
		if (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type) || type.isArray()) {
			return "which has several values; for the locks of all of them, request each of them";
		}
		if (type == Float.class || type == Double.class || type == OptionalDouble.class) {
			return "whose text depends on the version of Java; use a BigDecimal or an integral number";
		}
		if (type.getName().equals("java.sql.Date") || type.getName().equals("java.sql.Time")) {
			return "whose text depends on the time zone of the JVM; use its toLocal" + type.getSimpleName() + "()";
		}
		if (Calendar.class.isAssignableFrom(type)) {
			return "whose text has all its fields; use its toInstant()";
		}
		if (InetAddress.class.isAssignableFrom(type) || SocketAddress.class.isAssignableFrom(type)) {
			return "whose text changes when its name is looked up; use its address, such as getHostAddress()";
		}
		if (TimeZone.class.isAssignableFrom(type)) {
			return "whose text has all its rules; use its getID()";
		}
		if (Future.class.isAssignableFrom(type)) {
			return "which may have no value yet; use the value";
		}
		return hasOwnText(type) ? ""
				: "whose text is different in each JVM because it has no toString() of its own; use a value of it";
	}

	private static boolean hasOwnText(Class<?> type) {
		try {
			return type.getMethod("toString").getDeclaringClass() != Object.class;
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void checkName(String name) {
		if (name.isEmpty() || name.length() > MAX_NAME_LENGTH || !isOfNameCharacters(name)) {
			throw new IllegalArgumentException("'name' must be 1 to " + MAX_NAME_LENGTH
					+ " of the characters A-Z, a-z, 0-9, '.', '_', '-', '$' and '#', but was '" + abbreviate(name)
					+ "'");
		}
	}

	/** A loop instead of a stream, because each request checks its key. */
	private static boolean isOfNameCharacters(String name) {
		for (int i = 0; i < name.length(); i++) {
			if (!isNameCharacter(name.charAt(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isNameCharacter(int c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "._-$#".indexOf(c) >= 0;
	}

	private static void checkKey(String name, String key) {
		if (key.isBlank()) {
			throw new IllegalArgumentException(
					"'key' of the lock '" + name + "' must not be blank; leave it out for one lock per name");
		}
		if (key.length() > MAX_KEY_LENGTH) {
			throw new IllegalArgumentException("'key' of the lock '" + name + "' must not be longer than "
					+ MAX_KEY_LENGTH + " characters, but has " + key.length() + ": '" + abbreviate(key) + "'");
		}
		if (!isWellFormed(key)) {
			throw new IllegalArgumentException(
					"'key' of the lock '" + name + "' must be well-formed Unicode, but contains half a surrogate pair");
		}
	}

	private static boolean isWellFormed(String key) {
		for (int i = 0; i < key.length(); i += Character.charCount(key.codePointAt(i))) {
			if (isLoneSurrogate(key.codePointAt(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isLoneSurrogate(int codePoint) {
		return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
	}

	private static String abbreviate(String text) {
		return inOneLine((text.length() > 40) ? text.substring(0, 40) + "…" : text);
	}

	private static String encode(String key, IntPredicate standsForItself) {
		if (key.codePoints().allMatch(standsForItself)) {
			return key;
		}
		StringBuilder encoded = new StringBuilder(key.length() + 16);
		key.codePoints().forEach((codePoint) -> {
			if (standsForItself.test(codePoint)) {
				encoded.appendCodePoint(codePoint);
			}
			else {
				for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
					encoded.append(String.format(Locale.ROOT, "%%%02X", b));
				}
			}
		});
		return encoded.toString();
	}

	private static boolean standsForItself(int codePoint) {
		if (codePoint < 0x7F) {
			return codePoint >= ' ' && codePoint != '%' && codePoint != '{' && codePoint != '}';
		}
		// The index is even at the beginning of a range, and encodes the insertion point
		// inside one
		return Arrays.binarySearch(INVISIBLE, codePoint) % 2 != 0;
	}

}
