// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.SocketAddressResolver;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("clock")
class PrimaryAddressTests {

	@Test
	void theAddressIsLookedForAgainAfterAnError() throws InterruptedException {
		PrimaryAddress primary = new PrimaryAddress(RedisRegistry.server(1),
				SocketAddressResolver.create(DnsResolvers.UNRESOLVED));
		CountDownLatch looks = new CountDownLatch(2);
		Disposable watch = primary.watch(() -> {
			looks.countDown();
			throw new OutOfMemoryError("it is a test");
		});
		try {
			assertThat(looks.await(20, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			watch.dispose();
		}
	}

}
