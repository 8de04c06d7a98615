// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The shop, with a nightly report that is scheduled, and retried after a failure.
 */
@SpringBootApplication
@EnableScheduling
@EnableResilientMethods
public class StockApplication {

	public static void main(String[] args) {
		SpringApplication.run(StockApplication.class, args);
	}

	/**
	 * All instances agree on the day, wherever they run.
	 */
	@Bean
	Clock clock() {
		return Clock.systemUTC();
	}

	/**
	 * Let Tomcat use the same directories at each start. New ones would stay in the
	 * directory for temporary files when the shop is killed.
	 */
	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> directories(@Value("${shop.directory}") Path directory) {
		return (tomcat) -> {
			try {
				Path own = directory.resolve("tomcat");
				tomcat.setBaseDirectory(own.toFile());
				tomcat.setDocumentRoot(Files.createDirectories(own.resolve("no-documents")).toFile());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		};
	}

}
