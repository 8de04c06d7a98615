// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.util.StreamUtils;

/**
 * A script beside this class. It is run by its digest, and sent in full only when the
 * server does not know it yet.
 */
enum LockScript {

	ACQUIRE("acquire.lua", true),

	RENEW("renew.lua", true),

	RELEASE("release.lua", false),

	WITHDRAW("withdraw.lua", false),

	AWAITED("awaited.lua", false);

	/** Where the scripts are, for this class and for native images. */
	static final String LOCATION = "io/github/lockstarter/redis/";

	private final byte[] text;

	private final String digest;

	private final boolean list;

	LockScript(String name, boolean list) {
		this.text = load(name);
		this.digest = DigestUtils.sha1DigestAsHex(new String(this.text, StandardCharsets.UTF_8));
		this.list = list;
	}

	byte[] text() {
		return this.text;
	}

	String digest() {
		return this.digest;
	}

	/**
	 * Return whether the answer is a list of numbers, else it is a number.
	 */
	boolean returnsList() {
		return this.list;
	}

	private static byte[] load(String name) {
		try (InputStream resource = LockScript.class.getResourceAsStream(name)) {
			if (resource == null) {
				throw new IllegalStateException("The script '" + LOCATION + name + "' is not on the class path");
			}
			return StreamUtils.copyToByteArray(resource);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
