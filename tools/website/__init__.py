"""The documentation as a site: pages made from the code, links, colours, measured figures."""
