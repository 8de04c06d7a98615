// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import io.github.lockstarter.sample.stock.WriteDelay;

/**
 * In an instance of the lab, lets a sale meet its fault between its read and its write.
 */
@Component
@Primary
@Profile(Instances.PROFILE)
class WriteFault extends WriteDelay {

	/** The lab stops the instance that has this file, and deletes it. */
	static final String MARK = "stop-me";

	private static final Duration SLOW = Duration.ofMillis(300);

	/** The lab may have forgotten this instance. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final Path mark;

	@Autowired
	WriteFault() {
		this(Path.of(""));
	}

	WriteFault(Path directory) {
		super(Duration.ZERO);
		this.mark = directory.resolve(MARK);
	}

	@Override
	public void await(long productId) {
		if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes) {
			String fault = attributes.getRequest().getHeader(Fault.HEADER);
			if (Fault.SLOW.id().equals(fault)) {
				sleep(SLOW);
			}
			else if (Fault.PAUSE.id().equals(fault)) {
				awaitStop();
			}
			else if (Fault.CRASH.id().equals(fault)) {
				Runtime.getRuntime().halt(1);
			}
		}
	}

	private void awaitStop() {
		try {
			Files.createFile(this.mark);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		long start = System.nanoTime();
		while (Files.exists(this.mark) && System.nanoTime() - start < PATIENCE.toNanos()) {
			sleep(Duration.ofMillis(5));
		}
	}

	private static void sleep(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
