// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.util.StreamUtils;

import io.github.lockstarter.backend.UnusableStoreException;

/**
 * A script beside this class, run by its digest and sent in full only when the server
 * does not know it yet.
 */
final class LockScript {

	/** Where the scripts are, for this class and for native images. */
	static final String LOCATION = "io/github/lockstarter/redis/";

	static final LockScript ACQUIRE = new LockScript("acquire.lua", ReturnType.MULTI);

	static final LockScript RENEW = new LockScript("renew.lua", ReturnType.INTEGER);

	static final LockScript RELEASE = new LockScript("release.lua", ReturnType.INTEGER);

	static final LockScript WITHDRAW = new LockScript("withdraw.lua", ReturnType.INTEGER);

	private final byte[] text;

	private final String digest;

	private final ReturnType returnType;

	private LockScript(String name, ReturnType returnType) {
		this.text = load(name);
		this.digest = DigestUtils.sha1DigestAsHex(new String(this.text, StandardCharsets.UTF_8));
		this.returnType = returnType;
	}

	/**
	 * Run the script.
	 * @param connections where to get a connection; never one that is bound to the
	 * thread, whose transaction or pipeline would delay the script
	 * @param keys the lock, and companions in the same slot
	 * @param arguments the other arguments
	 */
	<T> T run(RedisConnectionFactory connections, List<String> keys, String... arguments) {
		byte[][] keysAndArguments = Stream.concat(keys.stream(), Stream.of(arguments))
			.map((text) -> text.getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		RedisConnection connection = connections.getConnection();
		try {
			T result = run(connection, keys.size(), keysAndArguments);
			if (result == null) {
				throw new IllegalStateException("Redis gave no answer; its connections must not be in a transaction");
			}
			return result;
		}
		catch (RuntimeException ex) {
			if (hasError(ex, "WRONGTYPE")) {
				throw new UnusableStoreException(
						"Redis key '" + keys.get(0) + "' or a companion of it holds something else than a lock;"
								+ " choose another distributed-lock.key-prefix or another lock name",
						ex);
			}
			if (hasError(ex, "NOPERM")) {
				throw new UnusableStoreException("The Redis user may not do what the locks need; see"
						+ " 'What Redis has to allow' in docs/guarantees.md of this library", ex);
			}
			throw ex;
		}
		finally {
			connection.close();
		}
	}

	private <T> @Nullable T run(RedisConnection connection, int keyCount, byte[]... keysAndArguments) {
		try {
			return connection.scriptingCommands().evalSha(this.digest, this.returnType, keyCount, keysAndArguments);
		}
		catch (RuntimeException ex) {
			if (!hasError(ex, "NOSCRIPT")) {
				throw ex;
			}
			return connection.scriptingCommands().eval(this.text, this.returnType, keyCount, keysAndArguments);
		}
	}

	private static boolean hasError(Throwable ex, String code) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && cause.getMessage().contains(code)) {
				return true;
			}
		}
		return false;
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
