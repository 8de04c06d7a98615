// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts on connections of Spring Data Redis, whatever the driver: one at a time,
 * on the caller's thread.
 */
final class SpringScriptConnection implements ScriptConnection {

	private final RedisConnectionFactory connections;

	private volatile @Nullable Boolean cluster;

	/**
	 * Create it.
	 * @param connections where to get a connection for each script; never one that is
	 * bound to the thread, whose transaction or pipeline would delay the script
	 */
	SpringScriptConnection(RedisConnectionFactory connections) {
		this.connections = connections;
	}

	@Override
	public <T> T run(LockScript script, byte[][] keys, byte[]... arguments) {
		byte[][] all = new byte[keys.length + arguments.length][];
		System.arraycopy(keys, 0, all, 0, keys.length);
		System.arraycopy(arguments, 0, all, keys.length, arguments.length);
		ReturnType returnType = script.returnsList() ? ReturnType.MULTI : ReturnType.INTEGER;
		RedisConnection connection = this.connections.getConnection();
		try {
			T answer = run(connection, script, returnType, keys.length, all);
			if (answer == null) {
				throw new IllegalStateException("Redis gave no answer; its connections must not be in a transaction");
			}
			return answer;
		}
		catch (RuntimeException ex) {
			throw ScriptErrors.translate(ex, keys[0]);
		}
		finally {
			connection.close();
		}
	}

	private <T> @Nullable T run(RedisConnection connection, LockScript script, ReturnType returnType, int keyCount,
			byte[]... all) {
		try {
			return connection.scriptingCommands().evalSha(script.digest(), returnType, keyCount, all);
		}
		catch (RuntimeException ex) {
			if (!ScriptErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return connection.scriptingCommands().eval(script.text(), returnType, keyCount, all);
		}
	}

	@Override
	public boolean isCluster() {
		Boolean cluster = this.cluster;
		if (cluster == null) {
			RedisConnection connection = this.connections.getConnection();
			try {
				cluster = connection instanceof RedisClusterConnection;
				this.cluster = cluster;
			}
			finally {
				connection.close();
			}
		}
		return cluster;
	}

}
