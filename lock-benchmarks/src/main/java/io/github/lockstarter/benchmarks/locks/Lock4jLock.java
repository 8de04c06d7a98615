// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.List;
import java.util.Set;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The template of lock4j on Spring Data Redis, with its default pause of 100 ms between
 * attempts and without renewal.
 */
final class Lock4jLock implements Competitor {

	private static final long LONG_WAIT_MILLIS = 3_600_000;

	@Override
	public String name() {
		return "lock4j";
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
		connections.start();
		Lock4jProperties properties = new Lock4jProperties();
		LockTemplate template = new LockTemplate();
		template.setProperties(properties);
		template.setExecutors(List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(connections), properties)));
		try {
			template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				LockInfo lock = template.lock(key, leaseMillis, LONG_WAIT_MILLIS);
				return () -> template.releaseLock(lock);
			}

			@Override
			public void close() {
				connections.destroy();
			}

		};
	}

}
