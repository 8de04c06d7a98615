// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

import io.github.lockstarter.autoconfigure.LocksEndpoint.LockDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.LocksDescriptor;

/**
 * The endpoint on the web, where a key is the rest of the path. A key that no path can
 * carry, such as one with two slashes, is a parameter. On WebFlux the rest of a path
 * includes all variables before it, so the name of the lock is its first segment.
 */
@EndpointWebExtension(endpoint = LocksEndpoint.class)
class LocksEndpointWebExtension {

	private final LocksEndpoint delegate;

	private final Show showValues;

	private final Set<String> roles;

	LocksEndpointWebExtension(LocksEndpoint delegate, Show showValues, Set<String> roles) {
		this.delegate = delegate;
		this.showValues = showValues;
		this.roles = roles;
	}

	@ReadOperation
	LocksDescriptor locks(SecurityContext securityContext) {
		return this.delegate.locks(this.showValues.isShown(securityContext, this.roles));
	}

	@ReadOperation
	WebEndpointResponse<LockDescriptor> lock(@Selector String name, @Nullable String key, @Nullable String registry) {
		return this.delegate.find(name, key, registry);
	}

	@ReadOperation
	WebEndpointResponse<LockDescriptor> lockOfPath(@Selector(match = Match.ALL_REMAINING) String[] path,
			@Nullable String key, @Nullable String registry) {
		return isOneKey(path, key) ? this.delegate.find(path[0], key(path), registry)
				: this.delegate.refuse(String.join("/", path), key, registry);
	}

	@DeleteOperation
	WebEndpointResponse<LockDescriptor> free(@Selector String name, @Nullable String key, @Nullable String token,
			@Nullable String registry) {
		return this.delegate.release(name, key, token, registry);
	}

	@DeleteOperation
	WebEndpointResponse<LockDescriptor> freeOfPath(@Selector(match = Match.ALL_REMAINING) String[] path,
			@Nullable String key, @Nullable String token, @Nullable String registry) {
		return isOneKey(path, key) ? this.delegate.release(path[0], key(path), token, registry)
				: this.delegate.refuse(String.join("/", path), key, registry);
	}

	/** Of a path that ends with a slash, nothing is left. */
	private static boolean isOneKey(String[] path, @Nullable String key) {
		return path.length > 1 && key == null;
	}

	private static String key(String[] path) {
		return String.join("/", Arrays.asList(path).subList(1, path.length));
	}

}
