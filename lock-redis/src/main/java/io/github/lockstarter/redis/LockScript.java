// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.util.StreamUtils;

/**
 * A script beside this class, with the functions that it shares with other scripts. It is
 * run by its digest, and sent in full only if the server does not know it.
 *
 * <p>
 * A line {@code -- Uses queue.lua, wake.lua} in a script is followed by the functions of
 * these files. The line stands outside all blocks and behind the exits that most runs
 * take, because defining a function takes time in each run.
 */
enum LockScript {

	ACQUIRE("acquire.lua", true),

	ACQUIRE_FAIR("acquire-fair.lua", true),

	ACQUIRE_SHARED("acquire-shared.lua", true),

	RENEW("renew.lua", true),

	RENEW_SHARED("renew-shared.lua", true),

	KEEP("keep.lua", false),

	RELEASE("release.lua", false),

	RELEASE_SHARED("release-shared.lua", false),

	ARRIVE("arrive.lua", false),

	WITHDRAW("withdraw.lua", false),

	INSPECT("inspect.lua", true),

	REDLOCK_RUN("redlock-run.lua", true),

	REDLOCK_ACQUIRE("redlock-acquire.lua", true),

	REDLOCK_RENEW("redlock-renew.lua", true),

	REDLOCK_RAISE("redlock-raise.lua", false),

	REDLOCK_RELEASE("redlock-release.lua", false),

	REDLOCK_INSPECT("redlock-inspect.lua", true);

	/** The location of the scripts, for this class and for native images. */
	static final String LOCATION = "io/github/lockstarter/redis/";

	private static final String USES = "-- Uses ";

	private final byte[] text;

	private final String digest;

	private final boolean list;

	LockScript(String name, boolean list) {
		String script = load(name).lines().flatMap(LockScript::withFunctions).collect(Collectors.joining("\n"));
		this.text = script.getBytes(StandardCharsets.UTF_8);
		this.digest = DigestUtils.sha1DigestAsHex(script);
		this.list = list;
	}

	byte[] text() {
		return this.text;
	}

	String digest() {
		return this.digest;
	}

	/**
	 * Return whether the script acquires one lock.
	 */
	boolean isAcquisition() {
		return this == ACQUIRE || this == ACQUIRE_FAIR || this == ACQUIRE_SHARED || this == REDLOCK_ACQUIRE;
	}

	/**
	 * Return whether the script is one of {@code RedlockStore}.
	 */
	boolean isOfRedlock() {
		return name().startsWith("REDLOCK");
	}

	/**
	 * Return whether the answer is a list, and not a single number.
	 */
	boolean returnsList() {
		return this.list;
	}

	private static Stream<String> withFunctions(String line) {
		if (!line.startsWith(USES)) {
			return Stream.of(line);
		}
		Stream<String> files = Arrays.stream(line.substring(USES.length()).split(", "));
		return Stream.concat(Stream.of(line), files.map(LockScript::load));
	}

	private static String load(String name) {
		try (InputStream resource = LockScript.class.getResourceAsStream(name)) {
			if (resource == null) {
				throw new IllegalStateException("The script '" + LOCATION + name + "' is not on the class path");
			}
			return StreamUtils.copyToString(resource, StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
