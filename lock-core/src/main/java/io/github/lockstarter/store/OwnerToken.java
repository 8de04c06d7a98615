// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * Identity of one ownership: the name of the instance that owns the lock, a dot, and 128
 * random bits that cannot be guessed and are never used again. So everybody who can read
 * the store sees which instance holds a lock.
 *
 * @param value the identity as it is stored
 * @param mode the mode in which the lock is acquired
 */
public record OwnerToken(String value, LockMode mode) {

	private static final int LONGEST_INSTANCE = 64;

	private static final int SHORTEST_SHOWN = 12;

	private static final String KEPT = ":kept";

	private static final SecureRandom random = new SecureRandom();

	private static final String HOST = host();

	/** A store may add something after a colon. */
	private static final Pattern VALUE = Pattern.compile("([A-Za-z0-9@._:-]{1,64})\\.[A-Za-z0-9_-]{22}(:.*)?");

	/**
	 * Return a new token for an exclusive owner in this JVM.
	 */
	public static OwnerToken random() {
		return random(LockMode.EXCLUSIVE);
	}

	/**
	 * Return a new token for an owner in this JVM.
	 * @param mode the mode in which the lock is acquired
	 */
	public static OwnerToken random(LockMode mode) {
		return random(instance(null), mode);
	}

	/**
	 * Return a new token.
	 * @param instance the name of the instance, as {@link Rule#INSTANCE_NAME} requires
	 * @param mode the mode in which the lock is acquired
	 */
	public static OwnerToken random(String instance, LockMode mode) {
		return new OwnerToken(instance + '.' + randomId(), mode);
	}

	/**
	 * Return 128 new random bits, as 22 letters, digits, '-' and '_'.
	 */
	public static String randomId() {
		byte[] bytes = new byte[16];
		random.nextBytes(bytes);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

	/**
	 * Return a name for this JVM: {@code application@host:pid}, without its beginning if
	 * it is too long, because instances differ at the end.
	 * @param application the name of the application, or {@code null} to leave it out
	 */
	public static String instance(@Nullable String application) {
		String pid = ":" + ProcessHandle.current().pid();
		String name = (application == null || application.isEmpty()) ? HOST : application + '@' + HOST;
		String allowed = name.replaceAll("[^A-Za-z0-9@._:-]", "-") + pid;
		return allowed.substring(Math.max(0, allowed.length() - LONGEST_INSTANCE));
	}

	/**
	 * Return the name of the instance that owns a lock, or the beginning of the value if
	 * it is that of another program. A value of that program may have any characters, and
	 * if it is short its beginning would tell too much of it.
	 * @param value the value in the store
	 */
	public static String holder(String value) {
		Matcher matcher = VALUE.matcher(value);
		if (matcher.matches()) {
			return matcher.group(1);
		}
		return (value.length() < SHORTEST_SHOWN) ? "a foreign owner"
				: "a foreign owner '" + value.substring(0, 4).replaceAll("[^ -~]", "?") + "…'";
	}

	/**
	 * Return whether a value is not an owner token, but that of another program.
	 * @param value the value in the store
	 */
	public static boolean isForeign(String value) {
		return !VALUE.matcher(value).matches();
	}

	/**
	 * Return what a store has in place of this token while the lock is kept.
	 */
	public OwnerToken kept() {
		return new OwnerToken(this.value + KEPT, this.mode);
	}

	/**
	 * Return whether a value is that of a lock which is only kept.
	 * @param value the value in the store
	 */
	public static boolean isKept(String value) {
		return value.endsWith(KEPT) && !isForeign(value);
	}

	/**
	 * Return the name of the instance only, because a program that knows the random half
	 * can release the lock.
	 */
	@Override
	public String toString() {
		return holder(this.value);
	}

	private static String host() {
		String name = System.getenv("HOSTNAME");
		try {
			return (name != null && !name.isEmpty()) ? name : InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
