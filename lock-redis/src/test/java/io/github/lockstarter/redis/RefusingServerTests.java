// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisScriptingCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that answers each script with an error for some time.
 */
@Tag("clock")
class RefusingServerTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest OTHER = LockRequest.of("stock", 1002);

	private static final RedisDatabase redis = SharedServers.redis();

	private final AtomicInteger refused = new AtomicInteger();

	private final AtomicInteger ended = new AtomicInteger();

	private volatile @Nullable String refusal;

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.of(new RefusingConnections(),
			RedisRegistry.often(Duration.ofSeconds(10)));

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			LOADING Redis is loading the dataset in memory                                        | true
			MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.      | true
			MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk | true
			CLUSTERDOWN The cluster is down                                                       | false
			""")
	void aHeldLockOutlivesItAndOthersAreGrantedAfterwards(String refusal, boolean connectsAnew) throws Exception {
		Lease held = this.registry.acquire(REQUEST);
		this.refusal = refusal;
		Call<Lease> waiter = Callers.start(() -> this.registry.acquire(OTHER));
		// The waiter, and at least two renewals
		Awaitility.await().until(() -> this.refused.get() > 5);
		this.refusal = null;
		waiter.get().close();
		long before = remaining();
		Awaitility.await().until(() -> remaining() > before);
		assertThat(held.isHeld()).isTrue();
		assertThat(this.ended.get() > 0).isEqualTo(connectsAnew);
		held.close();
	}

	private static long remaining() {
		return Long.parseLong(redis.command("PTTL", "lock:{stock:1001}"));
	}

	/**
	 * The connections of an application, whose server refuses scripts.
	 */
	private final class RefusingConnections extends LettuceConnectionFactory {

		RefusingConnections() {
			super(RedisRegistry.server(redis));
		}

		@Override
		public RedisConnection getConnection() {
			RedisConnection connection = super.getConnection();
			RedisScriptingCommands scripts = proxy(RedisScriptingCommands.class, (method, arguments) -> {
				String refusal = RefusingServerTests.this.refusal;
				if (refusal != null) {
					RefusingServerTests.this.refused.incrementAndGet();
					throw new RedisSystemException("Error in execution", new RedisException(refusal));
				}
				return invoke(method, connection.scriptingCommands(), arguments);
			});
			return proxy(RedisConnection.class, (method, arguments) -> {
				if (method.getName().equals("scriptingCommands")) {
					return scripts;
				}
				if (method.getName().equals("execute") && "QUIT".equals(arguments[0])) {
					RefusingServerTests.this.ended.incrementAndGet();
				}
				return invoke(method, connection, arguments);
			});
		}

		private static <T> T proxy(Class<T> type, Invocation invocation) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(proxy, method, arguments) -> invocation.run(method, arguments)));
		}

		private static @Nullable Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
			try {
				return method.invoke(target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		}

	}

	private interface Invocation {

		@Nullable Object run(Method method, Object[] arguments) throws Throwable;

	}

}
