// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The directory in which the instances on this computer find each other.
 */
class SharedDirectory {

	private final Path path;

	/**
	 * Resolve the real path, because instances identify shared processes by its name.
	 */
	SharedDirectory(Path path) throws IOException {
		this.path = Files.createDirectories(path).toRealPath();
	}

	Path resolve(String name) {
		return this.path.resolve(name);
	}

	FileChannel open(String name) throws IOException {
		return FileChannel.open(resolve(name), StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
	}

	/**
	 * Run an action that starts, joins or stops a shared process, in one instance at a
	 * time.
	 */
	<T, E extends Exception> T alone(Action<T, E> action) throws IOException, E {
		try (FileChannel channel = open("start.lock")) {
			channel.lock();
			return action.run();
		}
	}

	interface Action<T, E extends Exception> {

		T run() throws IOException, E;

	}

}
