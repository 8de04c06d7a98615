// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

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

	private static final ClassValue<Boolean> IS_VALUE = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return !isSeveral(type) && type != Optional.class && !isTextIdentity(type);
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
	 * Return the lock of a key within a name.
	 * @param name the name of what is guarded
	 * @param key the key, a single value that is converted to text by
	 * {@link String#valueOf}. For the locks of several keys use
	 * {@link LockSetRequest#of(String, Collection)}
	 * @throws IllegalArgumentException if the name is not valid, or the key is
	 * {@code null}, a collection, a map, an array or an {@link Optional}, has no
	 * {@code toString()} of its own, or its text is blank, longer than
	 * {@value #MAX_KEY_LENGTH} characters or not well-formed Unicode
	 */
	@SuppressWarnings("NullAway") // callers without null checks get a clear answer
	public static LockKey of(String name, Object key) {
		if (key == null) {
			throw new IllegalArgumentException(
					"'key' of the lock '" + name + "' must not be null; leave it out for one lock per name");
		}
		if (!IS_VALUE.get(key.getClass())) {
			throw new IllegalArgumentException("'key' of the lock '" + name + "' is a " + key.getClass().getTypeName()
					+ objection(key.getClass()));
		}
		return new LockKey(name, key.toString());
	}

	/**
	 * Return the one-line text under which this lock is stored and logged: {@code name}
	 * or {@code name:key}. Control and format characters, <code>%</code>, <code>{</code>
	 * and <code>}</code> of the key are percent-encoded as UTF-8, and all other
	 * characters are kept. Different locks have different texts.
	 */
	public String text() {
		return (this.key != null) ? this.name + ':' + encode(this.key) : this.name;
	}

	/**
	 * Return the {@linkplain #text() text}.
	 */
	@Override
	public String toString() {
		return text();
	}

	private static boolean isSeveral(Class<?> type) {
		return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type) || type.isArray();
	}

	private static boolean isTextIdentity(Class<?> type) {
		try {
			return type.getMethod("toString").getDeclaringClass() == Object.class;
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String objection(Class<?> type) {
		if (isSeveral(type)) {
			return ", which has several values; for the locks of all of them use LockSetRequest.of(name, keys)";
		}
		return (type == Optional.class) ? "; use its value instead"
				: ", whose text is different in each JVM because it has no toString() of its own";
	}

	private static void checkName(String name) {
		if (name.isEmpty() || name.length() > MAX_NAME_LENGTH || !name.chars().allMatch(LockKey::isNameCharacter)) {
			throw new IllegalArgumentException("'name' must be 1 to " + MAX_NAME_LENGTH
					+ " of the characters A-Z, a-z, 0-9, '.', '_', '-', '$' and '#', but was '" + abbreviate(name)
					+ "'");
		}
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
		if (key.codePoints().anyMatch(LockKey::isLoneSurrogate)) {
			throw new IllegalArgumentException(
					"'key' of the lock '" + name + "' must be well-formed Unicode, but contains half a surrogate pair");
		}
	}

	private static boolean isLoneSurrogate(int codePoint) {
		return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
	}

	private static String abbreviate(String text) {
		return encode((text.length() > 40) ? text.substring(0, 40) + "…" : text);
	}

	private static String encode(String key) {
		if (key.codePoints().allMatch(LockKey::standsForItself)) {
			return key;
		}
		StringBuilder encoded = new StringBuilder(key.length() + 16);
		key.codePoints().forEach((codePoint) -> {
			if (standsForItself(codePoint)) {
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
