// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;

/**
 * The Redis of all instances without a configured Redis. The first instance starts it and
 * the last one stops it. The operating system releases the registration of a crashed
 * instance, so the next instance joins a Redis that was left behind and stops it in the
 * end.
 */
class EmbeddedRedis implements DataRedisConnectionDetails, AutoCloseable {

	private static final Log logger = LogFactory.getLog(EmbeddedRedis.class);

	private final SharedDirectory directory;

	private final RedisProcess process;

	private final FileChannel users;

	private final int port;

	EmbeddedRedis(SharedDirectory directory) throws IOException {
		this.directory = directory;
		this.process = new RedisProcess(directory);
		this.users = directory.open("redis.users");
		this.port = directory.alone(this::join);
	}

	private int join() throws IOException {
		int running = this.process.findPort();
		int found = (running != 0) ? running : this.process.start();
		this.users.lock(0, Long.MAX_VALUE, true);
		logger.info(((running != 0) ? "Joined" : "Started") + " the embedded Redis on loopback port " + found);
		return found;
	}

	@Override
	public Standalone getStandalone() {
		return Standalone.of("127.0.0.1", this.port);
	}

	@Override
	public void close() throws IOException {
		if (this.directory.alone(this::leave)) {
			logger.info("Stopped the embedded Redis");
		}
	}

	private boolean leave() throws IOException {
		this.users.close();
		try (FileChannel others = this.directory.open("redis.users")) {
			boolean last = others.tryLock() != null;
			if (last) {
				this.process.stop();
			}
			return last;
		}
	}

}
