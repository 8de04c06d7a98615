// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request says by a header whether its sale meets a fault.
 */
class WriteFaultTests {

	@TempDir
	private Path directory;

	@Test
	void aSaleWaitsAtItsWriteToBeStopped() throws Exception {
		Path mark = this.directory.resolve(WriteFault.MARK);
		CompletableFuture<Void> sale = CompletableFuture.runAsync(() -> sell(Fault.PAUSE.id()));
		Awaitility.await().until(() -> Files.exists(mark));
		assertThat(sale).isNotDone();
		Files.delete(mark);
		sale.get();
	}

	@Test
	void allOthersMeetNone() {
		sell(Fault.NONE.id());
		sell("unknown");
		new WriteFault(this.directory).await(1);
		assertThat(this.directory).isEmptyDirectory();
	}

	private void sell(String fault) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader(Fault.HEADER, fault);
		RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
		try {
			new WriteFault(this.directory).await(1);
		}
		finally {
			RequestContextHolder.resetRequestAttributes();
		}
	}

}
