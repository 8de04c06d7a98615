// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.util.StreamUtils;

/**
 * A script beside this class, with what several of them share included. It is run by its
 * digest, and sent in full only when the server does not know it yet.
 */
enum LockScript {

	ACQUIRE("acquire.lua", true),

	ACQUIRE_ALL("acquire-all.lua", true),

	ACQUIRE_FAIR("acquire-fair.lua", true),

	ACQUIRE_SHARED("acquire-shared.lua", true),

	RENEW("renew.lua", true),

	RENEW_SHARED("renew-shared.lua", true),

	KEEP("keep.lua", false),

	RELEASE("release.lua", false),

	RELEASE_SHARED("release-shared.lua", false),

	ARRIVE("arrive.lua", false),

	WITHDRAW("withdraw.lua", false),

	AWAITED("awaited.lua", false);

	/** Where the scripts are, for this class and for native images. */
	static final String LOCATION = "io/github/lockstarter/redis/";

	private final byte[] text;

	private final String digest;

	private final boolean list;

	LockScript(String name, boolean list) {
		String script = Include.PATTERN.matcher(load(name))
			.replaceAll((include) -> Matcher.quoteReplacement(load(include.group(1))));
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
	 * Return whether it asks for one lock.
	 */
	boolean isAcquisition() {
		return this == ACQUIRE || this == ACQUIRE_FAIR || this == ACQUIRE_SHARED;
	}

	/**
	 * Return whether the answer is a list of numbers, else it is a number.
	 */
	boolean returnsList() {
		return this.list;
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

	/** An enum constant cannot refer to a constant of its own class. */
	private static final class Include {

		static final Pattern PATTERN = Pattern.compile("(?m)^[ ]*-- include (\\S+)$");

	}

}
